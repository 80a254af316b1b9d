import { useQuery } from "@tanstack/react-query";
import { failureOf } from "../../rpc/errors.ts";
import { EVENTS } from "../../text/en/webhooks/events.ts";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Section } from "../../ui/page/panel.tsx";
import styles from "./events.module.css";

/** The gateway publishes a type's schema with one example of a whole body. */
async function loadSchema(path: string) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`The schema could not be loaded: status ${response.status}.`);
  const { examples, ...schema } = await response.json();
  return { example: JSON.stringify(examples?.[0], null, 2), schema: JSON.stringify(schema, null, 2) };
}

/** The example and the JSON Schema of an event type. */
export function EventSchema({ type, path }: { type: string; path: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["event-schema", path],
    queryFn: () => loadSchema(path),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <p className={styles.dim}>Loading…</p>;
  return (
    <>
      <Section title={EVENTS.example}>
        <CodeBlock label={`${EVENTS.example} of ${type}`} text={data.example} />
      </Section>
      <Section title={EVENTS.schema}>
        <p className={styles.dim}>{EVENTS.schemaText}</p>
        <CodeBlock label={`${EVENTS.schema} of ${type}`} text={data.schema} />
      </Section>
    </>
  );
}
