import { type ReactNode, useEffect, useRef, useState } from "react";
import { CONVERSATION } from "../../text/en/assistants/conversation.ts";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/form/input.tsx";
import { Hidden } from "../../ui/hidden.tsx";
import { Icon } from "../../ui/icon.tsx";
import styles from "./conversation.module.css";
import type { Conversation } from "./use-conversation.ts";

const MAX_CHARACTERS = 32_000;
const MAX_FILE_BYTES = 20 * 1024 * 1024;

interface ComposerProps {
  conversation: Conversation;
  onSend?: (() => void) | undefined;
  takesFiles: boolean;
  /** Beside the buttons, such as settings of the next message. */
  children?: ReactNode;
}

/** Where the user writes. Enter sends; during the input of a composed character it ends the character. */
export function Composer({ conversation, onSend, takesFiles, children }: ComposerProps) {
  const { isAnswering, suggestions, send, stop } = conversation;
  const [text, setText] = useState("");
  const [file, setFile] = useState<File>();
  const [problem, setProblem] = useState("");
  /** Sent as soon as the answer has ended that is still being written, or the chat is loaded. */
  const [isWaiting, setWaiting] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const submit = (message: string) => {
    if (message.trim() === "") return;
    setWaiting(isAnswering);
    if (isAnswering) return;
    onSend?.();
    send(message, file);
    setText("");
    setFile(undefined);
    area.current?.focus();
  };
  useEffect(() => {
    if (isWaiting && !isAnswering) submit(text);
  });
  const pick = (picked: File | undefined) => {
    const isTooLarge = picked !== undefined && picked.size > MAX_FILE_BYTES;
    setProblem(isTooLarge ? CONVERSATION.tooLarge : "");
    setFile(isTooLarge ? undefined : picked);
    // The same file can be picked again.
    if (picker.current) picker.current.value = "";
  };
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault();
        submit(text);
      }}
    >
      {!isAnswering && suggestions.length > 0 && (
        <div role="group" aria-label={CONVERSATION.suggestions} className={styles.suggestions}>
          {suggestions.map((suggestion) => (
            <Button key={suggestion} onClick={() => submit(suggestion)}>
              {suggestion}
            </Button>
          ))}
        </div>
      )}
      <TextArea
        ref={area}
        rows={2}
        maxLength={MAX_CHARACTERS}
        aria-label={CONVERSATION.yourMessage}
        placeholder={CONVERSATION.hint}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setWaiting(false);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit(text);
        }}
      />
      {isWaiting && <p role="status">{CONVERSATION.waits}</p>}
      {problem !== "" && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
      <div className={styles.buttons}>
        {children}
        {takesFiles && !file && <Button onClick={() => picker.current?.click()}>{CONVERSATION.attach}</Button>}
        {file && (
          <Button onClick={() => setFile(undefined)} title={CONVERSATION.detach(file.name)}>
            {file.name}
            <Icon name="close" />
            <Hidden>{CONVERSATION.detach(file.name)}</Hidden>
          </Button>
        )}
        {takesFiles && (
          <input
            ref={picker}
            type="file"
            hidden
            aria-label={CONVERSATION.attach}
            onChange={({ target }) => pick(target.files?.[0])}
          />
        )}
        {isAnswering ? (
          <Button onClick={stop}>{CONVERSATION.stop}</Button>
        ) : (
          <Button type="submit" kind="primary" disabled={text.trim() === ""}>
            {CONVERSATION.send}
          </Button>
        )}
      </div>
    </form>
  );
}
