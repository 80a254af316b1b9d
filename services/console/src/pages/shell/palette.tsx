import { useIsFetching, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useCanManage } from "../../rpc/use-session.ts";
import { KINDS, SHELL } from "../../text/en/shell.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Input } from "../../ui/form/input.tsx";
import { useSettled } from "../../ui/use-settled.ts";
import { useRequest, useRun } from "./find-by-request.ts";
import { useEndpoints, useHooks, useKeys, useTools } from "./find-objects.ts";
import { containing, type Found } from "./found.ts";
import { PAGES } from "./pages.ts";
import styles from "./palette.module.css";

const TYPING_MS = 150;

/** Everything that has this in its name or as its id, as far as the user may see it. */
function useFound(text: string): Found[] {
  const canManage = useCanManage();
  const managed = canManage ? text : "";
  const objects = [
    useTools(text),
    useKeys(managed),
    useEndpoints(managed),
    useHooks(managed),
    useRun(managed),
    useRequest(managed),
  ];
  return objects.flat();
}

function usePages(text: string): Found[] {
  const canManage = useCanManage();
  return PAGES.flat()
    .filter(({ label, forMembers }) => (canManage || forMembers) && containing(label, text))
    .map(({ to, label }) => ({ kind: "page", id: to, label, to }));
}

function keyOf({ kind, id }: Found): string {
  return `${kind} ${id}`;
}

/** Finds a page by its name, and objects of the workspace by name or id. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  // By what it is, not by its place: results that arrive later move it.
  const [chosenKey, setChosenKey] = useState<string>();
  // Enter was pressed before there was a result for the text: the first one is opened when the search is over.
  const [isEntered, setEntered] = useState(false);
  const text = typed.trim();
  const settled = useSettled(text, TYPING_MS);
  const found = [...usePages(text), ...useFound(settled)];
  const chosen = Math.max(
    0,
    found.findIndex((option) => keyOf(option) === chosenKey),
  );
  // Objects of an earlier text may still be listed. Pages are those of this one, and stay first.
  const isFinal = chosenKey !== undefined || found[0]?.kind === "page" || (settled === text && found.length > 0);
  const isSearching = useIsFetching() > 0 || settled !== text;
  const open = (option: Found | undefined) => {
    if (!option) return;
    onClose();
    const { to, params, search = {} } = option;
    void navigate({ to, params, search } as never);
  };
  useEffect(() => {
    // Queries begin in effects, so this render does not know of those for the text that has just settled.
    if (!isEntered || settled !== text || queries.isFetching() > 0) return;
    setEntered(false);
    open(found[0]);
  });
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && isFinal) open(found[chosen]);
    else if (event.key === "Enter") setEntered(true);
    if (step === undefined) return;
    event.preventDefault();
    const next = found.at((chosen + step) % found.length);
    setChosenKey(next && keyOf(next));
  };
  return (
    <Dialog title={SHELL.find} onClose={onClose} initialFocus={field}>
      <Input
        ref={field}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[chosen] && `palette-${chosen}`}
        aria-label={SHELL.find}
        placeholder={SHELL.findHint}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setChosenKey(undefined);
          setEntered(false);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id="palette-list" aria-label={SHELL.find} className={styles.list}>
        {found.map((option, index) => (
          <Option
            key={keyOf(option)}
            option={option}
            index={index}
            isChosen={index === chosen}
            onOpen={() => open(option)}
          />
        ))}
      </div>
      <p role="status" className={styles.note}>
        {found.length === 0 && (isSearching ? SHELL.searching : SHELL.nothingFound)}
      </p>
    </Dialog>
  );
}

interface OptionProps {
  option: Found;
  index: number;
  isChosen: boolean;
  onOpen: () => void;
}

function Option({ option, index, isChosen, onOpen }: OptionProps) {
  return (
    <div
      role="option"
      id={`palette-${index}`}
      tabIndex={-1}
      aria-selected={isChosen}
      ref={(element) => {
        if (isChosen) element?.scrollIntoView({ block: "nearest" });
      }}
      onClick={onOpen}
      className={styles.option}
    >
      <span className={styles.label}>
        {option.label} {option.detail && <span className={styles.detail}>{option.detail}</span>}
      </span>
      <span className={styles.detail}>{KINDS[option.kind]}</span>
    </div>
  );
}
