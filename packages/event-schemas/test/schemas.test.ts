import { readFile } from "node:fs/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import { EventReportSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayName, EVENT_TYPES, eventTypeOf, schemaPath } from "../src/catalogue.ts";
import { API_VERSION, eventSchema, exampleEvent } from "../src/envelope.ts";
import type { EventType } from "../src/event-type.ts";

type Json = Record<string, unknown>;

function validatorOf(kind: EventType) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(eventSchema(kind, `https://gate.example${schemaPath(kind)}`));
}

/** The names of all fields of a message and of the messages in it. */
function fieldNames(message: DescMessage): string[] {
  return message.fields.flatMap((field) => [field.name, ...(field.message ? fieldNames(field.message) : [])]);
}

/** Every object in a value, with the path that leads to it. */
function objectsIn(value: unknown, path: string[] = []): { path: string[]; object: Json }[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.entries(value).flatMap(([name, member]) => objectsIn(member, [...path, name]));
  return Array.isArray(value) ? inside : [{ path, object: value as Json }, ...inside];
}

describe.each(EVENT_TYPES.map((kind) => [kind.type, kind] as const))("the schema of %s", (type, kind) => {
  const valid = validatorOf(kind);

  it("[EVT-7] accepts its own example", () => {
    expect(valid(exampleEvent(kind)), JSON.stringify(valid.errors)).toBe(true);
  });

  it("[WVER-2] accepts new fields in every object", () => {
    const example = structuredClone(exampleEvent(kind));
    for (const { object } of objectsIn(example)) object.a_new_field = { any: ["thing"] };
    expect(valid(example), JSON.stringify(valid.errors)).toBe(true);
  });

  it("[EVT-6] [WVER] refuses a body in which any documented field is missing or of another type", () => {
    const free = type === "custom" ? ["data"] : ["args", "result"];
    for (const { path } of objectsIn(exampleEvent(kind))) {
      if (path.some((name) => free.includes(name))) continue;
      const names = Object.keys(at(exampleEvent(kind), path));
      for (const name of names) {
        const without = structuredClone(exampleEvent(kind));
        delete at(without, path)[name];
        expect(valid(without), `without ${[...path, name].join(".")}`).toBe(false);
        const wrong = structuredClone(exampleEvent(kind));
        at(wrong, path)[name] = [[]];
        expect(valid(wrong), `wrong ${[...path, name].join(".")}`).toBe(false);
      }
    }
  });
});

function at(value: unknown, path: string[]): Json {
  return path.reduce((inside, name) => (inside as Json)[name], value) as Json;
}

it("[EVT-7] the catalogue contains the types that the requirements name and nothing else", async () => {
  const requirements = await readFile(new URL("../../../docs/requirements.md", import.meta.url), "utf8");
  const named = [...requirements.matchAll(/^- EVT-\d+: `([a-z_.<>]+)`:/gm)].map(([, type]) => type);
  expect(named.length).toBeGreaterThanOrEqual(11);
  expect(EVENT_TYPES.map(displayName).sort()).toEqual(named.sort());
});

it.each(["chat.message.created", "inbox.thread.assigned", "custom.", "custom.A", "custom.*", "__proto__"])(
  "[EVT-7] [EVT-19] %s is not in the catalogue",
  (type) => expect(eventTypeOf(type)).toBeUndefined(),
);

it("[EVT-57] [EVT-58] every well-formed custom name is in the catalogue", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9._-]{1,60}$/), (name) => {
      expect(eventTypeOf(`custom.${name}`)?.type).toBe("custom");
    }),
  );
});

it("[EVT-21] [EVT-22] neither a report nor an event has a field for an assignment or a category", () => {
  const reported = fieldNames(EventReportSchema);
  const sent = EVENT_TYPES.map((kind) => JSON.stringify([kind.type, kind.data, kind.example]));
  expect(reported).toContain("previous_status");
  expect([...reported, ...sent].filter((text) => /assign|categor/i.test(text))).toEqual([]);
});

it("[EVT-7] every report becomes an event of the catalogue", () => {
  const cases = EventReportSchema.oneofs.flatMap(({ fields }) => fields.map(({ localName }) => localName));
  const reported = new Set(EVENT_TYPES.flatMap(({ report }) => (report ? [report.case] : [])));
  expect([...reported].sort()).toEqual(cases.sort());
});

it("[WVER-1] all types have the same format version", () => {
  expect(API_VERSION).toBe("2026-11-01");
  for (const kind of EVENT_TYPES) {
    expect(validatorOf(kind)({ ...exampleEvent(kind), api_version: "2027-01-01" })).toBe(false);
  }
});

it("[OUT-17] [EVT-50] args and result are null together, and objects in tool.completed unless the body was too large", () => {
  const completed = eventTypeOf("tool.completed") as EventType;
  const submitted = eventTypeOf("public_tool.submitted") as EventType;
  const accepts = (kind: EventType, change: Json) =>
    validatorOf(kind)({ ...exampleEvent(kind), data: { ...kind.example, ...change } });
  const none = { args: null, result: null };
  expect(accepts(completed, none)).toBe(false);
  expect(accepts(completed, { ...none, truncated: true })).toBe(true);
  expect(accepts(completed, { truncated: true })).toBe(false);
  expect(accepts(submitted, none)).toBe(true);
  expect(accepts(submitted, { args: {}, result: {} })).toBe(true);
  expect(accepts(submitted, { args: {}, result: null })).toBe(false);
  expect(accepts(submitted, { ...none, truncated: true })).toBe(true);
});

it("[EVT-49] a full address is refused by the schema", () => {
  const kind = eventTypeOf("public_tool.submitted") as EventType;
  const accepts = (ip_prefix: string) =>
    validatorOf(kind)({ ...exampleEvent(kind), data: { ...kind.example, ip_prefix } });
  for (const prefix of ["203.0.113.0", "2001:db8:1::", "2001:db8::", "2001::", "::"])
    expect(accepts(prefix)).toBe(true);
  for (const full of ["203.0.113.7", "2001:db8:1::7", "2001:db8:1:2::", "::1", ""]) expect(accepts(full)).toBe(false);
});
