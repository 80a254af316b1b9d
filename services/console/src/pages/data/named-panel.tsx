import { type ReactNode, useState } from "react";
import { DATA } from "../../text/en/tools/data.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/page/panel.tsx";
import { DeleteNamed } from "./delete-named.tsx";
import type { NamedProps } from "./named-page.tsx";

interface NamedPanelProps extends NamedProps {
  name: string;
  /** The verb of the edit, and its dialog; without it there is none. */
  edit?: { label: string; dialog: (dialog: NamedProps) => ReactNode } | undefined;
  /** What deleting it does, for those who may. */
  remove?: { text: string; call: () => Promise<unknown> } | undefined;
  children: ReactNode;
}

export function NamedPanel({ name, edit, remove, children, onClose, onChanged }: NamedPanelProps) {
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const close = { onClose: () => setDialog(undefined), onChanged };
  return (
    <Panel
      title={name}
      onClose={onClose}
      actions={
        <>
          {edit && <Button onClick={() => setDialog("edit")}>{edit.label}</Button>}
          {remove && (
            <Button kind="danger" onClick={() => setDialog("delete")}>
              {DATA.delete}
            </Button>
          )}
        </>
      }
    >
      {children}
      {dialog === "edit" && edit?.dialog(close)}
      {dialog === "delete" && remove && (
        <DeleteNamed name={name} remove={remove.call} {...close}>
          <p>{remove.text}</p>
        </DeleteNamed>
      )}
    </Panel>
  );
}
