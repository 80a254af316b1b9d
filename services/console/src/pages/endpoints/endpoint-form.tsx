import type { Endpoint } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import * as v from "valibot";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { Field } from "../../ui/form/form.tsx";
import { Checkbox, Input, TextArea } from "../../ui/form/input.tsx";
import { EventPicker } from "./event-picker.tsx";

const HEADER_LINE = /^([^:\s]+)\s*:\s*(.+)$/;

export const EndpointValues = v.object({
  url: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter the URL of your server.")),
  description: v.pipe(v.string(), v.trim()),
  events: v.pipe(v.array(v.string()), v.minLength(1, "Choose at least one type of event.")),
  tools: v.array(v.string()),
  headers: v.pipe(
    v.array(v.pipe(v.string(), v.regex(HEADER_LINE, "Write each header as “Name: value”, on a line of its own."))),
    v.transform((lines) => Object.fromEntries(lines.map((line) => (HEADER_LINE.exec(line) ?? []).slice(1, 3)))),
  ),
  removes_headers: v.boolean(),
});

/** Types that are ticked, and custom ones by the names that were entered. */
export function readEndpoint(form: FormData): unknown {
  const names = linesOf(form, "custom_events", /[\s,]+/);
  return {
    url: form.get("url"),
    description: form.get("description"),
    events: [...form.getAll("events"), ...names.map((name) => `custom.${name.replace(/^custom\./, "")}`)],
    tools: form.getAll("tools"),
    headers: linesOf(form, "headers", /\r?\n/),
    removes_headers: form.has("removes_headers"),
  };
}

function linesOf(form: FormData, name: string, separator: RegExp): string[] {
  return String(form.get(name) ?? "")
    .split(separator)
    .map((line) => line.trim())
    .filter(Boolean);
}

/** The fields of an endpoint, for a new one or one that exists. */
export function EndpointFields({ of, chosen }: { of?: Endpoint; chosen?: string | undefined }) {
  const keepsHeaders = of !== undefined && of.headerNames.length > 0;
  const kept = keepsHeaders ? `Now: ${of.headerNames.join(", ")}. ${ENDPOINTS.headersKept}` : "";
  return (
    <>
      <Field name="url" label={ENDPOINTS.url} hint={ENDPOINTS.urlHint}>
        {(control) => (
          <Input
            {...control}
            type="url"
            data-mono
            placeholder="https://example.com/webhooks"
            defaultValue={of?.url}
            autoFocus
          />
        )}
      </Field>
      <Field name="description" label={ENDPOINTS.description}>
        {(control) => <Input {...control} defaultValue={of?.description} />}
      </Field>
      <EventPicker selected={of?.events ?? (chosen ? [chosen] : [])} tools={of?.tools ?? []} />
      <Field name="headers" label={ENDPOINTS.headers} hint={`${ENDPOINTS.headersHint} ${kept}`}>
        {(control) => <TextArea {...control} data-mono rows={2} />}
      </Field>
      {keepsHeaders && <Checkbox name="removes_headers" label={ENDPOINTS.removeHeaders} />}
    </>
  );
}
