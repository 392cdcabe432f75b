"""The requests of `llm_requests`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlannedRequest:
    """A request, its files, and the right plans as names of tasks; () is an answer in words."""

    text: str
    files: tuple[str, ...]
    right: tuple[tuple[str, ...], ...]


PLAIN = (
    "What is the capital of Australia?",
    "Who was Alan Turing?",
    "Explain recursion to a ten-year-old in three sentences.",
    "Wie funktioniert ein Kühlschrank?",
    "Pourquoi le ciel est-il bleu ?",
    "法国的首都是哪里？",
    "What's the difference between a virus and a bacterium?",
    "Give me a packing list for a weekend hike.",
    "What can I cook with eggs, spinach and feta?",
    "Who won the football match last night?",
    "I'm bored",
    "How do I get a red wine stain out of a shirt?",
    'What does "serendipity" mean?',
    "Is it safe to eat raw cookie dough?",
    "How tall is Mount Everest?",
    "¿Cuál es la capital de Perú?",
    "Why do cats purr?",
    "What is a good name for a grey cat?",
    "How does a bicycle stay upright?",
    "When did the Second World War end?",
    "Should I learn Python or JavaScript first?",
    "What is photosynthesis?",
    "Give me three tips for a job interview.",
    "How long does rice have to cook?",
    "Was ist der Unterschied zwischen Wetter und Klima?",
    "Who wrote Pride and Prejudice?",
    "What is the tallest animal?",
    "Why is the sea salty?",
    "How do vaccines work?",
    "What should I know before adopting a dog?",
    "Kannst du mir den Satz des Pythagoras erklären?",
    "Recommend a book about the Roman Empire.",
    "What is inflation?",
    "How many moons does Jupiter have?",
    "What causes thunder?",
    "Tell me something interesting about octopuses.",
    "Is a tomato a fruit?",
    "What's a polite way to decline an invitation?",
    "How does Wi-Fi work?",
    "Che cos'è la fotosintesi?",
)

PLANS = (
    PlannedRequest(
        "Fix the grammar: He don't knows where are my keys", (), ((), ("text-generation",))
    ),
    PlannedRequest(
        "Make this photo black and white and write a funny caption for it for Instagram",
        ("photo.jpg",),
        (
            ("image-editing", "text-generation"),
            ("image-to-image", "text-generation"),
            ("image-editing", "visual-question-answering"),
        ),
    ),
    PlannedRequest(
        "Remind me in 20 minutes to call mum and tell me how long rice has to cook",
        (),
        (("timer", "text-generation"), ("timer", "question-answering")),
    ),
    PlannedRequest(
        "Which month was best for AAPL?",
        ("stocks.csv",),
        (("table-question-answering",), ("text-generation",)),
    ),
    PlannedRequest(
        "Read the sign in this picture and tell me what language it is and translate it to English",
        ("sign.png",),
        (("language-identification", "translation"),),
    ),
    PlannedRequest(
        "What is the total on this receipt and how much is that per person for three people?",
        ("receipt.png",),
        (
            ("document-question-answering", "text-generation"),
            ("document-question-answering", "calculator"),
            ("text-generation",),
            ("document-question-answering",),
        ),
    ),
    PlannedRequest(
        "Crop this picture to the left half, blur it, and tell me what text was in it before",
        ("scan.png",),
        (("image-editing",),),
    ),
    PlannedRequest("Proofread this", ("letter.pdf",), (("text-generation",),)),
    PlannedRequest(
        "If I put 1000 euros at 3 percent a year, how much do I have after 10 years?",
        (),
        ((), ("text-generation",)),
    ),
    PlannedRequest("Lies mir den Text aus diesem Bild vor", ("scan.png",), (("text-to-speech",),)),
    PlannedRequest(
        "Mach dieses Foto schwarz-weiß", ("photo.jpg",), (("image-editing",), ("image-to-image",))
    ),
    PlannedRequest(
        "Übersetze diesen Brief ins Deutsche und lies ihn mir vor",
        ("letter.pdf",),
        (("translation", "text-to-speech"),),
    ),
    PlannedRequest("Résume ce document en deux phrases", ("report.pdf",), (("summarization",),)),
    PlannedRequest("Traduis ce document en anglais", ("letter.pdf",), (("translation",),)),
    PlannedRequest(
        "Stell einen Timer auf zehn Minuten und sag mir, wie spät es ist", (), (("timer", "clock"),)
    ),
    PlannedRequest("¿Qué dice este cartel?", ("sign.png",), ((),)),
    PlannedRequest(
        "把这张图片变成黑白的", ("photo.jpg",), (("image-editing",), ("image-to-image",))
    ),
    PlannedRequest(
        "Is the tone of this letter rude? If so give me a friendlier version",
        ("letter.pdf",),
        (("text-classification", "text-generation"), ("text-generation",)),
    ),
    PlannedRequest(
        "I can't hear what he says at the start, put it in writing for me and give me the gist",
        ("meeting.wav",),
        (("summarization",), ("text-generation",)),
    ),
    PlannedRequest(
        "Who is mentioned in this report and what do they do?",
        ("report.pdf",),
        (
            ("token-classification",),
            ("token-classification", "text-generation"),
            ("text-generation",),
            ("question-answering",),
            ("document-question-answering",),
        ),
    ),
    PlannedRequest(
        "Give me the picture upside down, smaller, and in warm brown tones",
        ("photo.jpg",),
        (("image-editing",), ("image-editing", "image-to-image")),
    ),
    PlannedRequest(
        "Let me have the words of this meeting as a Spanish text file",
        ("meeting.wav",),
        (("translation", "save-file"),),
    ),
    PlannedRequest(
        "How far apart in meaning are these: 'the shop is shut' and 'we are closed today'",
        (),
        (("sentence-similarity",),),
    ),
    PlannedRequest(
        "What is going on in this photo and would it suit a children's book?",
        ("photo.jpg",),
        (
            ("image-classification", "text-generation"),
            ("visual-question-answering",),
            ("text-generation",),
            ("visual-question-answering", "text-generation"),
        ),
    ),
    PlannedRequest(
        "Put the invoice into plain words for my grandmother and read it out slowly",
        ("receipt.png",),
        (("text-generation", "text-to-speech"), ("summarization", "text-to-speech")),
    ),
    PlannedRequest(
        "Kannst du die Aufnahme abtippen und auf Englisch zusammenfassen?",
        ("meeting.wav",),
        (("summarization",), ("translation", "summarization"), ("text-generation",)),
    ),
    PlannedRequest(
        "Sort out which of these two photos is the brighter one after you sharpen both",
        ("a.jpg", "b.jpg"),
        (
            ("image-editing", "image-classification"),
            ("image-editing", "file-details"),
            ("image-editing", "text-generation"),
            ("image-editing", "visual-question-answering"),
        ),
    ),
    PlannedRequest(
        "Make the speech in this clip available as text and tell me the mood of the speaker",
        ("clip.mp4",),
        (("text-classification",), ("audio-classification",)),
    ),
    PlannedRequest(
        "Wecke mich in einer Viertelstunde und rechne aus, was 18 % von 245 sind",
        (),
        (("timer", "calculator"),),
    ),
    PlannedRequest(
        "Write a haiku about the thing in this picture and say it aloud",
        ("photo.jpg",),
        (
            ("text-generation", "text-to-speech"),
            ("visual-question-answering", "text-generation", "text-to-speech"),
            ("image-classification", "text-generation", "text-to-speech"),
        ),
    ),
)

FOLLOW_UPS = (
    ("What is the capital of Australia?", "How many people live there?"),
    ("Who was Alan Turing?", "When was he born?"),
    ("Why is the sea salty?", "Is that true of all seas?"),
    ("How do vaccines work?", "Can you say that in one sentence?"),
    ("What is inflation?", "Give me an example of it."),
)

SKILLS = (
    ("What time is it?", ()),
    ("What is 15 percent of 240?", ()),
    ("What is seven times six?", ()),
    ("Flip a coin", ()),
    ("How many inches are 3.2 metres?", ()),
    ("What day is it today?", ()),
    ("Spell serendipity", ()),
    ("Delete all my files", ()),
    ("Summarise missing.pdf", ()),
    ("What does this sign say?", ("sign.png",)),
    ("Turn photo.jpg into a pencil sketch and rotate it 90 degrees", ("photo.jpg",)),
    ("Blur a.jpg and make b.jpg black and white", ("a.jpg", "b.jpg")),
    ("What is the total on this receipt?", ("receipt.png",)),
    ("How big is this picture?", ("photo.jpg",)),
    ("Make this photo sepia", ("photo.jpg",)),
    ("Crop the picture to a square", ("photo.jpg",)),
    ("Read the text in this picture", ("scan.png",)),
    ("How many rows are in this table?", ("stocks.csv",)),
    ("Take the audio out of clip.mp4", ("clip.mp4",)),
    ("Find the faces in this picture", ("photo.jpg",)),
    ("Read me the letter in scan.png", ("scan.png",)),
    ("Transcribe meeting.wav and give me the key words", ("meeting.wav",)),
    ("Take the audio out of clip.mp4 and transcribe it", ("clip.mp4",)),
    ("Clean up the noise in meeting.wav", ("meeting.wav",)),
    ("How long is this recording?", ("meeting.wav",)),
    ("Say 'good morning' and save it as hello.wav", ()),
    ("Set a timer for ten minutes", ()),
    ("Cancel the timer", ()),
    ("Draw me a castle", ()),
    ("", ()),
    ("👍🎉", ()),
    ("What is the square root of 144?", ()),
    ("How many days until Christmas?", ()),
    ("What time is it in Tokyo?", ()),
    ("Make this picture brighter and turn it around", ("a.jpg",)),
    ("Make a.jpg half as large", ("a.jpg",)),
    ("Convert photo.jpg to PNG", ("photo.jpg",)),
    ("Take a still out of clip.mp4 after one second", ("clip.mp4",)),
)
