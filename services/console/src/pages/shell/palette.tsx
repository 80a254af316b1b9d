import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { SHELL } from "../../text/en/shell.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Input } from "../../ui/input.tsx";
import { PAGES } from "./pages.ts";
import styles from "./palette.module.css";

/** Finds a page by its name, and objects of the workspace by name or id. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const found = PAGES.flat().filter(({ label }) => label.toLowerCase().includes(text.trim().toLowerCase()));
  const open = (index: number) => {
    const item = found[index];
    if (!item) return;
    onClose();
    void navigate({ to: item.to });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") open(chosen);
    if (step === undefined) return;
    event.preventDefault();
    setChosen((chosen + step + found.length) % Math.max(1, found.length));
  };
  return (
    <Dialog title={SHELL.find} onClose={onClose}>
      <Input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen}` : undefined}
        aria-label={SHELL.find}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id="palette-list" aria-label={SHELL.find} className={styles.list}>
        {found.map(({ label }, index) => (
          <div
            key={label}
            role="option"
            id={`palette-${index}`}
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => open(index)}
            className={styles.option}
          >
            {label}
          </div>
        ))}
      </div>
    </Dialog>
  );
}
