import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { displayName, EVENT_TYPES, schemaPath } from "../src/catalogue.ts";
import { withEventTypes } from "../src/docs.ts";
import { API_VERSION, eventSchema, exampleEvent } from "../src/envelope.ts";
import type { EventType, JsonSchema } from "../src/event-type.ts";

const DOCS = new URL("../../../docs/", import.meta.url);

/** The part of docs/events.md about a type. */
async function sectionOf(kind: EventType): Promise<string> {
  const page = await readFile(new URL("events.md", DOCS), "utf8");
  return page.split(/^## /m).find((section) => section.startsWith(`\`${displayName(kind)}\`\n`)) ?? "";
}

/** Paths of all fields in a schema. */
function fieldsOf(schema: JsonSchema, path = ""): string[] {
  const { properties = {}, items } = schema as { properties?: Record<string, JsonSchema>; items?: JsonSchema };
  const own = Object.entries(properties).flatMap(([name, field]) => {
    const at = path ? `${path}.${name}` : name;
    return [at, ...fieldsOf(field, at)];
  });
  return items ? [...own, ...fieldsOf(items, `${path}[]`)] : own;
}

describe.each(EVENT_TYPES.map((kind) => [kind.type, kind] as const))("the documentation of %s", (type, kind) => {
  it("[WVER] says when it is sent and lists every field of its data and no other", async () => {
    const section = await sectionOf(kind);
    expect(section).toContain(kind.sent);
    const listed = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    expect(listed).toEqual(fieldsOf(kind.data));
  });

  it("[WVER] shows the example that the schema contains", async () => {
    const [, json = ""] = /```json\n([\s\S]*?)```/.exec(await sectionOf(kind)) ?? [];
    expect(JSON.parse(json)).toEqual(exampleEvent(kind));
  });

  it("[WVER-1] the copy of its schema is the schema", async () => {
    const copy = JSON.parse(await readFile(new URL(`events/${type}.json`, DOCS), "utf8"));
    expect(copy).toEqual(eventSchema(kind, schemaPath(kind)));
  });
});

it("[EVT-7] the documentation describes the catalogue and nothing else", async () => {
  const page = await readFile(new URL("events.md", DOCS), "utf8");
  expect(withEventTypes(page), "run make gen").toBe(page);
  const titles = [...page.matchAll(/^## `([^`]+)`$/gm)].map(([, title]) => title);
  expect(titles).toEqual(EVENT_TYPES.map(displayName));
  const copies = await readdir(new URL("events/", DOCS));
  expect(copies.sort()).toEqual(EVENT_TYPES.map(({ type }) => `${type}.json`).sort());
  expect(page).toContain(`\`${API_VERSION}\``);
});
