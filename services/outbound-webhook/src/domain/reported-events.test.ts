import { create, type DescField, type DescMessage, type DescOneof, type Message, ScalarType } from "@bufbuild/protobuf";
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

/** Values of a field: seven in eight are from the example, so that enough reports are valid. */
function fieldValue(field: DescField, example: unknown): fc.Arbitrary<unknown> {
  const other = otherValue(field, example);
  return example === undefined ? other : fc.oneof({ arbitrary: fc.constant(example), weight: 7 }, other);
}

function otherValue(field: DescField, example: unknown): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "message":
      return message(field.message, example as Message | undefined);
    case "list":
      return field.message ? fc.array(message(field.message, (example as Message[] | undefined)?.[0])) : fc.array(text);
    case "enum":
      return fc.nat({ max: 7 });
    case "scalar":
      return field.scalar === ScalarType.STRING ? text : numberOrFlag(field.scalar);
    case "map":
      throw new Error("no report has a map");
  }
}

function numberOrFlag(type: ScalarType): fc.Arbitrary<unknown> {
  if (type === ScalarType.BOOL) return fc.boolean();
  if (type === ScalarType.UINT64) return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  if (type === ScalarType.INT64) return fc.bigInt({ min: -10n, max: 2n ** 40n });
  return fc.nat();
}

function oneofValue(oneof: DescOneof, example: { case?: string; value?: unknown } | undefined): fc.Arbitrary<unknown> {
  const choices = oneof.fields.map((field) => {
    const value = fieldValue(field, field.localName === example?.case ? example.value : undefined);
    return fc.record({ case: fc.constant(field.localName), value });
  });
  return fc.oneof(...choices);
}

function message(desc: DescMessage, example: Message | undefined): fc.Arbitrary<object> {
  const members = example as Record<string, never> | undefined;
  const values = desc.members.map((member): [string, fc.Arbitrary<unknown>] => {
    const value = members?.[member.localName];
    return [member.localName, member.kind === "oneof" ? oneofValue(member, value) : fieldValue(member, value)];
  });
  return fc.record(Object.fromEntries(values));
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
    const desc = EventReportSchema.fields.find((field) => field.localName === name)?.message as DescMessage;
    const { event } = create(EventReportSchema, { event: example });
    let stored = 0;
    fc.assert(
      fc.property(message(desc, event.value), (value) => {
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
