import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type Key, KeyService, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { GATES, KEYS, REMEDIES } from "../../text/en/keys.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Section } from "../../ui/page/panel.tsx";
import { Status } from "../../ui/status.tsx";
import type { KeyField } from "./key-form.tsx";
import styles from "./keys.module.css";

const Question = v.object({ tool: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter a tool.")), client_ip: v.string() });
/** The field of the key that opens a gate. */
const FIELDS: Readonly<Record<string, KeyField>> = {
  key_active: "expiry",
  network: "allowed_networks",
  limit: "limit",
  tool_listed: "tools",
};
/** The tab of the tool that opens a gate. */
const TABS: Readonly<Record<string, "api" | "definition">> = { tool_released: "api", tool_not_async: "definition" };

interface KeyDoctorProps {
  of: Key;
  onEdit: (field: KeyField) => void;
}

/** Which checks a call would pass; each that fails links to what opens it. */
export function KeyDoctor({ of, onEdit }: KeyDoctorProps) {
  const workspace = useWorkspace();
  const explain = useMutation(KeyService.method.explainCall);
  return (
    <Section title={KEYS.doctor}>
      <p className={styles.dim}>{KEYS.doctorText}</p>
      <Form
        schema={Question}
        submit={KEYS.check}
        onSubmit={({ tool, client_ip: clientIp }) => explain.mutateAsync({ workspace, keyId: of.id, tool, clientIp })}
      >
        <Field name="tool" label="Tool">
          {(control) => <Input {...control} list="key-tools" defaultValue={of.tools[0]} />}
        </Field>
        <datalist id="key-tools">
          {of.tools.map((tool) => (
            <option key={tool} value={tool} />
          ))}
        </datalist>
        <Field name="client_ip" label={KEYS.callerIp} hint={KEYS.callerIpHint}>
          {(control) => <Input {...control} />}
        </Field>
      </Form>
      {explain.data && (
        <div aria-live="polite">
          <p>
            A call would get <strong>{explain.data.status}</strong>
            {explain.data.status === 200 && " and run the tool"}.
          </p>
          <ul className={styles.gates}>
            {explain.data.gates.map(({ gate, passes, explanation }) => (
              <li key={gate}>
                {passes ? (
                  <Status tone="good">{GATES[gate] ?? explanation}</Status>
                ) : (
                  <div className={styles.refusal}>
                    <Icon name="bad" />
                    {explanation}
                  </div>
                )}
                {!passes && <Remedy of={of} gate={gate} tool={explain.variables?.tool ?? ""} onEdit={onEdit} />}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Section>
  );
}

function Remedy({ of, gate, tool, onEdit }: { gate: string; tool: string } & KeyDoctorProps) {
  const [field, tab] = [FIELDS[gate], TABS[gate]];
  // Nothing changes a revoked key.
  if (field && of.status !== KeyStatus.REVOKED) {
    return <Button onClick={() => onEdit(field)}>{REMEDIES[field]}</Button>;
  }
  if (!tab) return null;
  return (
    <p>
      <Link to="/tools/$name" params={{ name: tool }} search={{ tab }}>
        {tab === "api" ? KEYS.release : KEYS.definition}
      </Link>
    </p>
  );
}
