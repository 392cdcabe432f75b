"use strict";

// The steps of an answer arrive as server-sent events of /v1/responses, see the help on the server.

const find = (id) => document.getElementById(id);
const SIGNS = { in_progress: "…", completed: "✓", failed: "✗" };
const KINDS = { in_progress: "running", completed: "done", failed: "failed" };
const talk = [];
let token = sessionStorage.getItem("token") || "";
let running = null;

function show() {
  find("door").hidden = Boolean(token);
  find("box").hidden = !token;
  find(token ? "words" : "token").focus();
}

function complain(words) {
  find("trouble").textContent = words;
}

function leave() {
  token = "";
  sessionStorage.removeItem("token");
  show();
}

function asData(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });
}

async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const line = part.split("\n").find((each) => each.startsWith("data: "));
      if (line) yield JSON.parse(line.slice(6));
    }
  }
}

function made(name) {
  return document.createElement(name);
}

class Turn {
  constructor(words) {
    const item = find("turn").content.cloneNode(true).firstElementChild;
    this.part = (name) => item.querySelector("." + name);
    this.part("asked").textContent = words;
    this.steps = new Map();
    this.words = "";
    find("turns").append(item);
    item.scrollIntoView({ block: "end" });
  }

  follow(event) {
    switch (event.type) {
      case "response.output_item.added":
      case "response.output_item.done":
        if (event.item.type === "mcp_call") this.step(event.item);
        break;
      case "response.output_text.delta":
        this.words += event.delta;
        this.part("answer").textContent = this.words;
        break;
      case "response.completed":
        this.end(event.response);
        break;
      case "response.failed":
        complain(event.response.error.message);
        break;
    }
  }

  step(item) {
    let line = this.steps.get(item.id);
    if (!line) {
      line = made("li");
      for (const name of ["state", "name", "about"]) {
        const span = made("span");
        span.className = name;
        line.append(span, " ");
      }
      this.steps.set(item.id, line);
      this.part("steps").append(line);
    }
    const [state, name, about] = line.querySelectorAll("span");
    line.className = KINDS[item.status];
    state.textContent = SIGNS[item.status];
    name.textContent = item.name.replaceAll("-", " ");
    about.textContent = item.error ? item.error.content[0].text : item.output || "";
  }

  end(response) {
    const about = response.jarvis || { files: [], notes: [], not_agreed: [] };
    for (const file of about.files) {
      const picture = file.media_type.startsWith("image/") && file.media_type !== "image/svg+xml";
      const link = made("a");
      link.href = file.url;
      link.download = file.name;
      if (picture) {
        const image = made("img");
        image.src = file.url;
        image.alt = file.name;
        link.append(image);
      } else {
        link.textContent = file.name;
      }
      this.part("made").append(link);
    }
    const refused = about.not_agreed.map((each) => "Not done, since nobody was asked: " + each);
    for (const words of [...about.notes, ...refused]) {
      const line = made("li");
      line.textContent = words;
      this.part("notes").append(line);
    }
  }
}

async function send() {
  const words = find("words").value.trim();
  const files = [...find("files").files];
  if (!words || running) return;
  complain("");
  running = new AbortController();
  find("send").hidden = true;
  find("stop").hidden = false;
  const turn = new Turn(words);
  const content = [{ type: "input_text", text: words }];
  try {
    for (const file of files) {
      content.push({ type: "input_file", filename: file.name, file_data: await asData(file) });
    }
    const response = await fetch("v1/responses", {
      method: "POST",
      headers: { "Authorization": "Bearer " + token, "Content-Type": "application/json" },
      body: JSON.stringify({
        model: "jarvis", stream: true, store: false, input: [...talk, { role: "user", content }],
      }),
      signal: running.signal,
    });
    if (!response.ok) {
      const { error } = await response.json();
      if (response.status === 401) leave();
      throw new Error(error.message);
    }
    for await (const event of events(response)) turn.follow(event);
    talk.push({ role: "user", content: words }, { role: "assistant", content: turn.words });
    find("words").value = find("files").value = "";
    choose();
  } catch (error) {
    complain(error.name === "AbortError" ? "Stopped." : error.message);
  } finally {
    running = null;
    find("send").hidden = false;
    find("stop").hidden = true;
  }
}

function choose() {
  const names = [...find("files").files].map((file) => {
    const line = made("li");
    line.textContent = file.name;
    return line;
  });
  find("chosen").replaceChildren(...names);
}

find("door").addEventListener("submit", (event) => {
  event.preventDefault();
  token = find("token").value.trim();
  find("token").value = "";
  sessionStorage.setItem("token", token);
  complain("");
  show();
});
find("box").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
find("words").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send();
  }
});
document.querySelector("label[for=files]").addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === " ") find("files").click();
});
find("files").addEventListener("change", choose);
find("stop").addEventListener("click", () => running && running.abort());
find("leave").addEventListener("click", leave);
show();
