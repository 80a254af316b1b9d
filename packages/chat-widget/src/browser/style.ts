export const STYLE = `
:host { all: initial; --accent: var(--toolgate-chat-accent, #0b57d0); }
* { box-sizing: border-box; }
.root { position: fixed; right: 20px; bottom: 20px; z-index: 2147483000; font: 15px/1.5 system-ui, sans-serif; color: #1f1f1f; }
button { font: inherit; border: 0; border-radius: 8px; padding: 8px 14px; cursor: pointer; background: var(--accent); color: #fff; }
button.plain { background: none; color: inherit; padding: 4px 8px; }
button:focus-visible, textarea:focus-visible, .log:focus-visible, a:focus-visible { outline: 3px solid #f29900; outline-offset: 2px; }
.launcher { border-radius: 24px; padding: 12px 20px; box-shadow: 0 2px 10px #0005; }
.panel { display: flex; flex-direction: column; width: min(380px, calc(100vw - 24px)); height: min(560px, calc(100vh - 40px));
  background: #fff; border: 1px solid #c4c7c5; border-radius: 12px; box-shadow: 0 4px 24px #0004; overflow: hidden; }
[hidden] { display: none !important; }
header { display: flex; align-items: center; gap: 4px; padding: 8px 12px; border-bottom: 1px solid #c4c7c5; }
h2 { flex: 1; margin: 0; font-size: 16px; }
.log { flex: 1; overflow-y: auto; padding: 12px; overscroll-behavior: contain; }
.message { margin: 0 0 10px; padding: 8px 12px; border-radius: 10px; width: fit-content; max-width: 100%; overflow-wrap: anywhere; }
.message > div > :first-child { margin-top: 0; } .message > div > :last-child { margin-bottom: 0; }
.user { margin-left: auto; background: #d3e3fd; white-space: pre-wrap; }
.assistant { background: #f0f4f9; }
.error { background: #fce8e6; color: #8c1d18; }
pre { overflow-x: auto; } table { border-collapse: collapse; } td, th { border: 1px solid #c4c7c5; padding: 2px 6px; }
.status { min-height: 22px; margin: 0; padding: 0 12px; color: #444746; font-size: 13px; }
.suggestions { display: flex; flex-wrap: wrap; gap: 6px; padding: 0 12px 6px; }
.suggestions button { background: #fff; color: #0b57d0; border: 1px solid #747775; padding: 4px 10px; }
form { display: flex; gap: 8px; padding: 8px 12px 12px; align-items: end; }
textarea { flex: 1; font: inherit; color: inherit; background: #fff; padding: 8px; border: 1px solid #747775; border-radius: 8px; resize: none; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
