import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { displayName, EVENT_TYPES, schemaPath } from "../src/catalogue.ts";
import { withEventTypes } from "../src/docs.ts";
import { API_VERSION, eventSchema, exampleEvent } from "../src/envelope.ts";
import type { EventType } from "../src/event-type.ts";

const DOCS = new URL("../../../docs/", import.meta.url);

/** The part of docs/events.md about a type. */
async function sectionOf(kind: EventType): Promise<string> {
  const page = await readFile(new URL("events.md", DOCS), "utf8");
  return page.split(/^## /m).find((section) => section.startsWith(`\`${displayName(kind)}\`\n`)) ?? "";
}

describe.each(EVENT_TYPES.map((kind) => [kind.type, kind] as const))("the documentation of %s", (type, kind) => {
  it("[WVER] says when it is sent", async () => {
    expect(await sectionOf(kind)).toContain(kind.sent);
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
