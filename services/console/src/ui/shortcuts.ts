import { useEffect, useEffectEvent } from "react";

const SETTING = "toolgate.single-keys";

export function singleKeysAreOn(): boolean {
  return localStorage.getItem(SETTING) !== "off";
}

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(SETTING, on ? "on" : "off");
}

/** The target itself, also inside of an editor's shadow root. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Calls the handler for a key, such as "c" or "mod+k". Single keys do nothing while the user types, or in a dialog. */
export function useShortcut(key: string, handler: (event: KeyboardEvent) => void): void {
  const handle = useEffectEvent(handler);
  useEffect(() => {
    const [name, isMod] = [key.split("+").at(-1), key.startsWith("mod+")];
    const listen = (event: KeyboardEvent) => {
      if (event.key !== name || event.altKey || event.defaultPrevented) return;
      if (isMod !== (event.metaKey || event.ctrlKey)) return;
      const isFree = singleKeysAreOn() && !isTyping(event) && !document.querySelector("[role=dialog]");
      if (!isMod && !isFree) return;
      event.preventDefault();
      handle(event);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [key]);
}
