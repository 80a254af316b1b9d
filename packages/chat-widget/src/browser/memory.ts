/** A message whose answer has not ended. */
export interface Pending {
  clientMessageId: string;
  message: string;
}

/** What the widget remembers across a reload. */
export interface Memory {
  chatId: string;
  /** For this tab only. */
  pending: Pending | undefined;
  isOpen: boolean;
  /** Begins a new chat. */
  forget(): void;
}

/** Without storage, which a browser may refuse, everything is remembered until the page is left. */
export function createMemory(name: string): Memory {
  const chat = storageOf(() => localStorage, `${name} chat`);
  const pending = storageOf(() => sessionStorage, `${name} pending`);
  const open = storageOf(() => sessionStorage, `${name} open`);
  return {
    get chatId() {
      const found = chat.read() ?? newId();
      chat.write(found);
      return found;
    },
    get pending() {
      const text = pending.read();
      return text === undefined ? undefined : (JSON.parse(text) as Pending);
    },
    set pending(value) {
      pending.write(value && JSON.stringify(value));
    },
    get isOpen() {
      return open.read() !== undefined;
    },
    set isOpen(value) {
      open.write(value ? "1" : undefined);
    },
    forget() {
      chat.write(undefined);
      pending.write(undefined);
    },
  };
}

/** Cannot be guessed. */
export function newId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

function storageOf(storage: () => Storage, name: string) {
  let value: string | undefined;
  try {
    value = storage().getItem(name) ?? undefined;
  } catch {}
  return {
    read: () => value,
    write(next: string | undefined) {
      value = next;
      try {
        if (next === undefined) storage().removeItem(name);
        else storage().setItem(name, next);
      } catch {}
    },
  };
}
