import { useState } from "react";
import { Button } from "../button.tsx";
import { Icon } from "../icon.tsx";

/** Copies also on plain http, where browsers have no clipboard API. Says whether it worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    // Inside the open dialog, or its focus trap would take the selection away.
    (document.activeElement?.parentElement ?? document.body).append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

interface CopyButtonProps {
  text: string;
  label?: string;
  onCopied?: () => void;
}

export function CopyButton({ text, label = "Copy", onCopied }: CopyButtonProps) {
  const [state, setState] = useState<"" | "Copied" | "Copy it by hand">("");
  const copy = async () => {
    const copied = await copyText(text);
    setState(copied ? "Copied" : "Copy it by hand");
    if (copied) onCopied?.();
  };
  return (
    <Button onClick={copy} onBlur={() => setState("")}>
      <Icon name="copy" />
      <span aria-live="polite">{state || label}</span>
    </Button>
  );
}
