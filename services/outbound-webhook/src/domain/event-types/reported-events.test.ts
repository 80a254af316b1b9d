import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { eventTypeOf, schemaPath } from "@toolgate/event-schemas/catalogue";
import { eventSchema } from "@toolgate/event-schemas/envelope";
import { EventReportSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { createRedactor } from "@toolgate/redaction/redactor";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { InvalidField } from "./field.ts";
import { reportedEvents } from "./reported-events.ts";

type Happened = NonNullable<MessageInitShape<typeof EventReportSchema>["event"]>;

const NOW = new Date("2026-11-21T08:00:00Z");
const RUNS = 400;

/** Four of five are what a source would send: a report has up to ten fields, and enough of them have to be stored. */
const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: good, weight: 4 }, { arbitrary: bad, weight: 1 });
const text = mostly(
  fc.constantFrom("email", "a", "2026-11-18T12:06:40+01:00", "203.0.113.7", "2001:db8::1", '{"token":1}', "<p>x</p>"),
  fc.string({ unit: "binary", maxLength: 30 }),
);
const number = mostly(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 7 }));
const long = fc.oneof(text, fc.constant("😀".repeat(10_050)));
const time = fc.record({ seconds: fc.bigInt({ min: -10n, max: 2n ** 40n }) });
const chat = mostly(
  text.map((rest) => ({ channel: "email", chatId: `email:${rest}` })),
  fc.record({ channel: fc.constantFrom("widget", "sms"), chatId: text }),
);

const message = fc.record({
  id: text,
  subject: fc.option(long, { nil: undefined }),
  from: fc.record({ name: long, address: text }),
  body: fc.oneof(
    fc.record({ case: fc.constant("text" as const), value: long }),
    fc.record({ case: fc.constant("html" as const), value: long }),
  ),
  receivedAt: mostly(fc.constantFrom("2026-11-18T12:06:40+01:00", "2026-11-18T12:06:40.5Z"), fc.constant("today")),
  attachments: fc.array(
    fc.record({
      filename: long,
      mimetype: text,
      size: mostly(fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
    }),
  ),
});
const connection = {
  ref: fc.option(text, { nil: undefined }),
  account: fc.record({ id: text, name: long }),
  connectedAt: time,
};
const kinds = {
  inboxMessageReceived: fc.record({
    thread: fc.tuple(chat, number, fc.boolean()).map(([place, status, isNew]) => ({ ...place, status, isNew })),
    message,
  }),
  inboxThreadStatusChanged: fc
    .tuple(chat, fc.record({ previousStatus: number, status: number, source: number }))
    .map(([place, change]) => ({ ...place, ...change })),
  scheduledTaskCompleted: fc.record({ task: text, tool: text, durationMs: fc.nat() }),
  scheduledTaskFailed: fc.record({ task: text, tool: text, durationMs: fc.nat(), error: long }),
  publicToolSubmitted: fc.record({
    tool: text,
    success: fc.boolean(),
    origin: fc.oneof(text, fc.webUrl()),
    ip: fc.oneof(text, fc.ipV4(), fc.ipV6()),
    webhookEvent: fc.boolean(),
    argsJson: fc.oneof(
      text,
      fc.dictionary(text, fc.jsonValue()).map((args) => JSON.stringify(args)),
    ),
    resultJson: fc.oneof(text, fc.json()),
  }),
  socialConnected: fc.record(connection),
  socialRevoked: fc.record({ ...connection, reason: number }),
};

const validators = new Map<string, ValidateFunction>();
function faultsOf(body: { type: string }): unknown {
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

test.each(Object.entries(kinds))(
  "[EVT-6] [WVER] whatever a report of %s holds, it is refused with its field, or what is stored is as published",
  (name, values) => {
    const redact = createRedactor();
    let stored = 0;
    fc.assert(
      fc.property(values as fc.Arbitrary<object>, (value) => {
        const report = create(EventReportSchema, {
          workspaceId: "w",
          workspace: "acme",
          occurredAt: { seconds: BigInt(NOW.getTime() / 1000) },
          hop: 1,
          sourceId: "s",
          event: { case: name, value } as Happened,
        });
        try {
          const accepted = reportedEvents(report, redact, NOW);
          if (!("events" in accepted)) return;
          for (const { body } of accepted.events) expect(faultsOf(JSON.parse(String(body)))).toBeNull();
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
