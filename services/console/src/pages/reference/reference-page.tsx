import { getRouteApi } from "@tanstack/react-router";
import type { ReadDocument } from "@toolgate/api-examples/read-openapi";
import { trimPasted } from "@toolgate/rules/pasted";
import { useEffect, useState } from "react";
import { REFERENCE } from "../../text/en/reference.ts";
import { Button } from "../../ui/button.tsx";
import { KeyField, keyFaultOf, useKeyField } from "../tool/api/key-field.tsx";
import { readReference } from "./read-reference.ts";
import styles from "./reference.module.css";
import { ToolChoice } from "./tool-choice.tsx";
import { ToolReference } from "./tool-reference.tsx";

const route = getRouteApi("/reference");

/**
 * [OAPI-3] The tools of a pasted key, for its holder, who needs no login. The key is in its field alone, and what it opened is
 * in this component; both are gone when the page is left.
 */
export function ReferencePage() {
  const key = useKeyField();
  const { tool: chosen } = route.useSearch();
  const [shown, setShown] = useState<ReadDocument>();
  const [fault, setFault] = useState("");
  const [reading, setReading] = useState<AbortController>();
  useEffect(() => () => reading?.abort(), [reading]);
  useEffect(() => {
    document.title = `${REFERENCE.title} · Toolgate`;
    const forget = () => setShown(undefined);
    window.addEventListener("pagehide", forget);
    return () => window.removeEventListener("pagehide", forget);
  }, []);

  const show = async () => {
    const pasted = key.current?.value ?? "";
    const found = keyFaultOf(pasted);
    setFault(found);
    if (found !== "" || reading) return;
    const controller = new AbortController();
    setReading(controller);
    setShown(undefined);
    try {
      const read = await readReference(trimPasted(pasted), controller.signal);
      if (typeof read === "string") setFault(read);
      else setShown(read);
    } catch {
      if (!controller.signal.aborted) setFault(REFERENCE.unreachable);
    } finally {
      setReading(undefined);
    }
  };
  const forget = () => {
    if (key.current) key.current.value = "";
    setShown(undefined);
  };
  const tool = shown?.tools.find(({ name }) => name === chosen) ?? (chosen ? undefined : shown?.tools[0]);
  return (
    <main className={styles.page}>
      <h1>{REFERENCE.title}</h1>
      <p className={styles.intro}>{REFERENCE.intro}</p>
      <div className={styles.key}>
        <KeyField field={key} hint={REFERENCE.keyHint} onEnter={() => void show()} />
        {fault !== "" && (
          <p role="alert" className={styles.alert}>
            {fault}
          </p>
        )}
        <div className={styles.line}>
          <Button kind="primary" pending={reading !== undefined} onClick={() => void show()}>
            {REFERENCE.show}
          </Button>
          {shown && <Button onClick={forget}>{REFERENCE.forget}</Button>}
          <span role="status" className={styles.dim}>
            {reading && REFERENCE.showing}
            {shown && REFERENCE.count(shown.tools.length)}
          </span>
        </div>
      </div>
      {shown && (
        <>
          <section aria-label={shown.title} className={styles.about}>
            <h2>{shown.title}</h2>
            <p>{shown.description}</p>
          </section>
          {shown.tools.length === 0 && <p>{REFERENCE.noTools}</p>}
          <div className={styles.split}>
            {shown.tools.length > 0 && <ToolChoice tools={shown.tools} chosen={tool?.name} />}
            {tool ? <ToolReference key={tool.name} tool={tool} keyField={key} /> : chosen && <p>{REFERENCE.gone}</p>}
          </div>
        </>
      )}
    </main>
  );
}
