import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { displayName, EVENT_TYPES, schemaPath } from "../src/catalogue.ts";
import { withEventTypes } from "../src/docs.ts";
import { API_VERSION, eventSchema } from "../src/envelope.ts";

const DOCS = new URL("../../../docs/", import.meta.url);

it.each(EVENT_TYPES.map((kind) => [kind.type, kind] as const))(
  "[WVER-1] the copy of the schema of %s is the schema",
  async (type, kind) => {
    const copy = JSON.parse(await readFile(new URL(`events/${type}.json`, DOCS), "utf8"));
    expect(copy).toEqual(eventSchema(kind, schemaPath(kind)));
  },
);

it("[EVT-7] [WVER] the documentation describes the catalogue and nothing else", async () => {
  const page = await readFile(new URL("events.md", DOCS), "utf8");
  expect(withEventTypes(page), "run make gen").toBe(page);
  const titles = [...page.matchAll(/^## `([^`]+)`$/gm)].map(([, title]) => title);
  expect(titles).toEqual(EVENT_TYPES.map(displayName));
  const copies = await readdir(new URL("events/", DOCS));
  expect(copies.sort()).toEqual(EVENT_TYPES.map(({ type }) => `${type}.json`).sort());
  expect(page).toContain(`\`${API_VERSION}\``);
});
