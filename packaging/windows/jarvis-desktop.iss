; The installer for Windows, compiled there by Inno Setup 6.3 or later:
;
;   iscc /DVersion=0.1.0 /DFolder=C:\...\dist\jarvis-desktop-0.1.0-windows packaging\windows\jarvis-desktop.iss
;
; `packaging/build.py windows` makes the folder on any system. With a certificate, add
; "/Ssigned=signtool sign /fd sha256 /tr http://timestamp.digicert.com /td sha256 $f" /DSigned

#ifndef Version
  #error Which version? /DVersion=...
#endif
#ifndef Folder
  #error Which folder? /DFolder=...
#endif

[Setup]
; It never changes: by it a newer version finds the older one.
AppId={{7B0E5B6C-41C8-4C1F-9B7E-2F6D0A6B8E53}
AppName=JARVIS Desktop
AppVersion={#Version}
AppPublisher=The JARVIS Desktop contributors
DefaultDirName={autopf}\JARVIS Desktop
DefaultGroupName=JARVIS Desktop
DisableProgramGroupPage=yes
; For this user alone, without an administrator; the dialog offers all users.
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
; What Qt 6.11 and Python 3.13 run on.
MinVersion=10.0.17763
LicenseFile={#Folder}\LICENSE
SetupIconFile={#Folder}\jarvis.ico
UninstallDisplayIcon={app}\jarvis.ico
UninstallDisplayName=JARVIS Desktop
OutputBaseFilename=jarvis-desktop-{#Version}-windows-x64
Compression=lzma2/max
SolidCompression=yes
WizardStyle=modern
CloseApplications=yes
RestartApplications=no
#ifdef Signed
SignTool=signed
#endif

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"


[Tasks]
Name: "desktop"; Description: "{cm:CreateDesktopIcon}"; GroupDescription: "{cm:AdditionalIcons}"; Flags: unchecked

[InstallDelete]
; Modules of an older version, and what Python compiled of them.
Type: filesandordirs; Name: "{app}\Lib"
Type: filesandordirs; Name: "{app}\DLLs"

[Files]
Source: "{#Folder}\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{group}\JARVIS Desktop"; Filename: "{app}\JARVIS.exe"; IconFilename: "{app}\jarvis.ico"
Name: "{autodesktop}\JARVIS Desktop"; Filename: "{app}\JARVIS.exe"; IconFilename: "{app}\jarvis.ico"; Tasks: desktop

[Registry]
; The window may have set this, to start with the session; a start of what is gone helps nobody.
Root: HKCU; Subkey: "Software\Microsoft\Windows\CurrentVersion\Run"; ValueType: none; ValueName: "org.jarvisdesktop.JarvisDesktop"; Flags: dontcreatekey uninsdeletevalue
; `jarvis-desktop` in the dialog "Run" and for other programs.
Root: HKA; Subkey: "Software\Microsoft\Windows\CurrentVersion\App Paths\jarvis-desktop.exe"; ValueType: string; ValueData: "{app}\jarvis-desktop.exe"; Flags: uninsdeletekey

[Run]
Filename: "{app}\JARVIS.exe"; Description: "{cm:LaunchProgram,JARVIS Desktop}"; Flags: nowait postinstall skipifsilent

[UninstallDelete]
; What Python compiled. The user's data is elsewhere and stays: `jarvis-desktop help data` names it.
Type: filesandordirs; Name: "{app}\Lib"
