import { useState } from "react";
import { SHELL, SHORTCUTS } from "../../text/en/shell.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Checkbox } from "../../ui/form/input.tsx";
import { Facts } from "../../ui/page/panel.tsx";
import { setSingleKeys, singleKeysAreOn } from "../../ui/shortcuts.ts";

export default function Keyboard({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(singleKeysAreOn);
  const change = (on: boolean) => {
    setSingleKeys(on);
    setOn(on);
  };
  return (
    <Dialog title={SHELL.keyboard} onClose={onClose}>
      <Facts facts={SHORTCUTS.map(([keys, meaning]) => [keys, meaning])} />
      <p>
        <Checkbox label={SHELL.singleKeys} checked={isOn} onChange={(event) => change(event.target.checked)} />
      </p>
    </Dialog>
  );
}
