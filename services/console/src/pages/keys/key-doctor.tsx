import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type Key, KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { GATES, KEYS } from "../../text/en/keys.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Form } from "../../ui/form.tsx";
import { Input } from "../../ui/input.tsx";
import { Section } from "../../ui/panel.tsx";
import { Status } from "../../ui/status.tsx";
import styles from "./keys.module.css";

const Question = v.object({ tool: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter a tool.")), client_ip: v.string() });
/** Gates that a field of the key opens. */
const BY_KEY: ReadonlySet<string> = new Set(["key_active", "network", "limit", "tool_listed"]);

interface KeyDoctorProps {
  of: Key;
  onDialog: (dialog: "edit") => void;
}

/** Which checks a call would pass; each that fails links to what opens it. */
export function KeyDoctor({ of, onDialog }: KeyDoctorProps) {
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
                <Status tone={passes ? "good" : "bad"}>{GATES[gate] ?? gate}</Status>
                {!passes && (
                  <p>
                    {explanation} <Remedy gate={gate} tool={explain.variables?.tool ?? ""} onDialog={onDialog} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Section>
  );
}

function Remedy({ gate, tool, onDialog }: { gate: string; tool: string } & Pick<KeyDoctorProps, "onDialog">) {
  if (BY_KEY.has(gate)) return <Button onClick={() => onDialog("edit")}>Edit the key</Button>;
  if (gate.startsWith("tool_"))
    return (
      <Link to="/tools/$name" params={{ name: tool }}>
        Open the tool
      </Link>
    );
  return null;
}
