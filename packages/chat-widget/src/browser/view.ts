import { safeHtml } from "./safe-html.ts";
import { STYLE } from "./style.ts";

export interface ViewEvents {
  send(message: string): void;
  stop(): void;
  startNewChat(): void;
  open(): void;
  close(): void;
}

/** An answer that is being shown. */
export interface ShownAnswer {
  add(html: string): void;
  end(): void;
}

const RENDER_EVERY_MS = 80;
/** When the log is scrolled to within this distance of its end, it follows what is added. */
const NEAR_END_PX = 60;

/** The widget's elements, in a shadow tree so that its styles and the page's do not affect each other. */
export class View {
  readonly #events: ViewEvents;
  readonly #launcher = element("button", { className: "launcher", textContent: "Chat" });
  readonly #panel = element("section", { className: "panel", id: "panel", hidden: true });
  readonly #log = element("div", { className: "log", tabIndex: 0 });
  readonly #status = element("p", { className: "status" });
  readonly #suggestions = element("div", { className: "suggestions" });
  readonly #text = element("textarea", { id: "text", rows: 2, maxLength: 32_000 });
  readonly #send = element("button", { type: "submit", textContent: "Send" });
  readonly #stop = element("button", { type: "button", textContent: "Stop", hidden: true });
  readonly #shadow: ShadowRoot;
  #isBusy = false;

  constructor(parent: Element, title: string, events: ViewEvents) {
    this.#events = events;
    const close = element("button", { className: "plain", textContent: "×" });
    close.setAttribute("aria-label", "Close chat");
    const newChat = element("button", { className: "plain", textContent: "New chat" });
    const header = element("header");
    header.append(element("h2", { textContent: title }), newChat, close);
    const label = element("label", { className: "sr", htmlFor: "text", textContent: "Your message" });
    const form = element("form");
    form.append(label, this.#text, this.#send, this.#stop);
    this.#panel.setAttribute("role", "dialog");
    this.#panel.setAttribute("aria-label", title);
    this.#log.setAttribute("role", "log");
    this.#log.setAttribute("aria-label", "Messages");
    this.#status.setAttribute("role", "status");
    this.#panel.append(header, this.#log, this.#status, this.#suggestions, form);
    this.#launcher.setAttribute("aria-controls", "panel");
    this.#launcher.setAttribute("aria-expanded", "false");
    const root = element("div", { className: "root" });
    root.append(this.#launcher, this.#panel);
    this.#shadow = parent.attachShadow({ mode: "open" });
    // Not a style element, which a page's policy may forbid.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.#shadow.adoptedStyleSheets = [sheet];
    this.#shadow.append(root);
    this.#launcher.addEventListener("click", () => this.open({ focus: true }));
    close.addEventListener("click", () => this.close());
    newChat.addEventListener("click", () => events.startNewChat());
    this.#stop.addEventListener("click", () => events.stop());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(this.#text.value);
    });
    this.#text.addEventListener("keydown", (event) => {
      // During the input of a composed character, Enter ends the character.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit(this.#text.value);
    });
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
  }

  open({ focus }: { focus: boolean }): void {
    this.#panel.hidden = false;
    this.#launcher.hidden = true;
    this.#launcher.setAttribute("aria-expanded", "true");
    if (focus) this.#text.focus();
    this.#scroll(true);
    this.#events.open();
  }

  close(): void {
    this.#panel.hidden = true;
    this.#launcher.hidden = false;
    this.#launcher.setAttribute("aria-expanded", "false");
    this.#launcher.focus();
    this.#events.close();
  }

  clear(): void {
    this.#log.replaceChildren();
    this.suggest([]);
    this.status("");
  }

  /** While it is busy, nothing can be sent, and the answer can be stopped. */
  busy(isBusy: boolean): void {
    const focused = this.#shadow.activeElement;
    this.#isBusy = isBusy;
    this.#send.hidden = isBusy;
    this.#stop.hidden = !isBusy;
    // The button that had the focus is hidden now.
    if (focused === this.#send || focused === this.#stop) this.#text.focus();
  }

  status(text: string): void {
    if (this.#status.textContent !== text) this.#status.textContent = text;
  }

  suggest(items: readonly string[]): void {
    const buttons = items.map((item) => {
      const button = element("button", { type: "button", textContent: item });
      button.addEventListener("click", () => {
        this.#submit(item);
        this.#text.focus();
      });
      return button;
    });
    this.#suggestions.replaceChildren(...buttons);
  }

  /** `before`: shown above all other messages. */
  addUser(text: string, { before = false } = {}): void {
    this.#add(message("user", "You", document.createTextNode(text)), before);
  }

  addAssistant(html: string, { before = false } = {}): void {
    this.#add(message("assistant", "Assistant", safeHtml(html)), before);
  }

  addError(text: string): void {
    this.#add(message("error", "Error", document.createTextNode(text)), false);
  }

  /** Shows an answer while it arrives. Screen readers read it when it has ended. */
  answer(): ShownAnswer {
    const shown = message("assistant", "Assistant", "");
    const content = shown.lastElementChild;
    shown.setAttribute("aria-busy", "true");
    let html = "";
    let timer: number | undefined;
    const render = () => {
      timer = undefined;
      const isNearEnd = this.#isNearEnd();
      content?.replaceChildren(safeHtml(html));
      this.#scroll(isNearEnd);
    };
    this.#add(shown, false);
    return {
      add(part) {
        html += part;
        timer ??= window.setTimeout(render, RENDER_EVERY_MS);
      },
      end() {
        window.clearTimeout(timer);
        render();
        shown.removeAttribute("aria-busy");
      },
    };
  }

  #submit(text: string): void {
    if (text.trim() === "" || this.#isBusy) return;
    this.#text.value = "";
    this.#events.send(text);
  }

  #add(shown: Element, before: boolean): void {
    const isNearEnd = this.#isNearEnd();
    if (before) this.#log.prepend(shown);
    else this.#log.append(shown);
    this.#scroll(isNearEnd);
  }

  #isNearEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  }

  #scroll(toEnd: boolean): void {
    if (toEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }
}

function message(kind: string, sender: string, content: Node | string): HTMLElement {
  const shown = element("article", { className: `message ${kind}` });
  const text = element("div");
  text.append(content);
  shown.append(element("span", { className: "sr", textContent: `${sender}: ` }), text);
  return shown;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
