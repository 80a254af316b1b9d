import { create } from "@bufbuild/protobuf";
import { EVENT_TYPES, eventTypeOf, schemaPath } from "@toolgate/event-schemas/catalogue";
import { eventSchema } from "@toolgate/event-schemas/envelope";
import { InvalidField } from "@toolgate/event-schemas/fields";
import { EventReportSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { reportedEvents } from "./reported-events.ts";

const NOW = new Date("2026-11-21T08:00:00Z");
const RUNS = 400;

const TEXTS = [
  "email",
  "widget",
  "sms",
  "email:a",
  "2026-11-18T12:06:40.5Z",
  "203.0.113.7",
  "2001:db8::1",
  '{"token":1}',
];
const text = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constant("😀".repeat(10_050)),
  fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
);

/** The example's value or, once in eight times, another one of its type. */
function changed(value: unknown): fc.Arbitrary<unknown> {
  const orOther = (other: fc.Arbitrary<unknown>) => fc.oneof({ arbitrary: fc.constant(value), weight: 7 }, other);
  if (typeof value === "string") return orOther(text);
  if (typeof value === "number") return orOther(fc.nat());
  if (typeof value === "bigint") return orOther(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
  if (typeof value === "boolean") return fc.boolean();
  if (Array.isArray(value)) return orOther(fc.array(fc.oneof(...value.map(changed), fc.constant(value[0]))));
  if (typeof value !== "object" || value === null) return fc.constant(value);
  // The name of a message or of a chosen member stays.
  const isName = (member: string) => member === "$typeName" || member === "case";
  const members = Object.entries(value).map(([name, of]) => [name, isName(name) ? fc.constant(of) : changed(of)]);
  return fc.record(Object.fromEntries(members));
}

const validators = new Map<string, ValidateFunction>();
function schemaErrors(body: { type: string }): unknown {
  const kind = eventTypeOf(body.type);
  if (!kind) return "not in the catalogue";
  let validate = validators.get(body.type);
  if (!validate) {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    validate = ajv.compile(eventSchema(kind, schemaPath(kind)));
    validators.set(body.type, validate);
  }
  return validate(body) ? null : validate.errors;
}

const reported = EVENT_TYPES.flatMap(({ type, report }) => (report ? [{ type, report }] : []));

test.each(reported)(
  "[EVT-6] [WVER] a report of $type is either refused, with its field named, or stored as its schema says",
  ({ report: { case: name, example } }) => {
    const { event } = create(EventReportSchema, { event: example });
    let stored = 0;
    fc.assert(
      fc.property(changed(event.value), (value) => {
        const report = create(EventReportSchema, {
          workspaceId: "w",
          workspace: "acme",
          occurredAt: { seconds: BigInt(NOW.getTime() / 1000) },
          hop: 1,
          sourceId: "s",
          event: { case: name, value } as typeof example,
        });
        try {
          const events = reportedEvents(report, NOW);
          if (typeof events === "number") return;
          for (const { body } of events) expect(schemaErrors(JSON.parse(String(body)))).toBeNull();
          stored += 1;
        } catch (error) {
          if (!(error instanceof InvalidField)) throw error;
        }
      }),
      { numRuns: RUNS },
    );
    expect(stored).toBeGreaterThan(0);
  },
);
