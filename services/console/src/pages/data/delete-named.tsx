import type { ReactNode } from "react";
import { DATA } from "../../text/en/tools/data.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import type { NamedProps } from "./named-page.tsx";

interface DeleteNamedProps extends NamedProps {
  name: string;
  remove: () => Promise<unknown>;
  children: ReactNode;
}

export function DeleteNamed({ name, remove, children, onClose, onChanged }: DeleteNamedProps) {
  return (
    <Confirm
      title={DATA.deleteTitle(name)}
      action={DATA.delete}
      onClose={onClose}
      onConfirm={async () => {
        await remove();
        toast(DATA.deleted(name));
        onChanged();
      }}
    >
      {children}
    </Confirm>
  );
}
