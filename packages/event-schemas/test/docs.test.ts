import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { EVENT_TYPES, schemaPath } from "../src/catalogue.ts";
import { API_VERSION, eventSchema, exampleEvent } from "../src/envelope.ts";
import type { EventType, JsonSchema } from "../src/event-type.ts";

const DOCS = new URL("../../../docs/", import.meta.url);

/** The part of docs/events.md about a type. */
async function sectionOf({ type }: EventType): Promise<string> {
  const page = await readFile(new URL("events.md", DOCS), "utf8");
  const title = type === "custom" ? "custom.<name>" : type;
  return page.split(/^## /m).find((section) => section.startsWith(`\`${title}\`\n`)) ?? "";
}

/** Paths of all members that a schema names. */
function membersOf(schema: JsonSchema, path = ""): string[] {
  const { properties = {}, items } = schema as { properties?: Record<string, JsonSchema>; items?: JsonSchema };
  const own = Object.entries(properties).flatMap(([name, member]) => {
    const at = path ? `${path}.${name}` : name;
    return [at, ...membersOf(member, at)];
  });
  return items ? [...own, ...membersOf(items, `${path}[]`)] : own;
}

describe.each(EVENT_TYPES.map((kind) => [kind.type, kind] as const))("the documentation of %s", (type, kind) => {
  it("[WVER] says when it is sent and names every member of its data, and no other", async () => {
    const section = await sectionOf(kind);
    expect(section).toContain(kind.sent);
    const named = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    expect(named).toEqual(membersOf(kind.data));
  });

  it("[WVER] shows the example that the schema holds", async () => {
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
  const titles = [...page.matchAll(/^## `([^`]+)`$/gm)].map(([, title]) => title);
  expect(titles).toEqual(EVENT_TYPES.map(({ type }) => (type === "custom" ? "custom.<name>" : type)));
  const copies = await readdir(new URL("events/", DOCS));
  expect(copies.sort()).toEqual(EVENT_TYPES.map(({ type }) => `${type}.json`).sort());
  expect(page).toContain(`\`${API_VERSION}\``);
});
