import { expect, test } from "vitest";
import { startToolRunnerRig } from "./tool-runner-rig.ts";

const TOOLS = 12;
const PAGE_CHARACTERS = 64 * 1024;

test("[MGMT] a page of large tools has fewer than were asked for, and all pages together have each tool once", async () => {
  await using runner = await startToolRunnerRig();
  const names = Array.from({ length: TOOLS }, (_, index) => `tool-${String(index).padStart(2, "0")}`);
  for (const name of names) {
    const description = name.padEnd(10_000, " x");
    await runner.saveTool(name, { description, external_api: true, handler: "export default () => ({ ok: true });" });
  }
  const listed: string[] = [];
  let pageToken = "";
  do {
    const page = await runner.tools.listTools({ pageSize: 100, pageToken });
    const characters = page.tools.reduce((sum, tool) => sum + JSON.stringify(tool.definition).length, 0);
    expect(page.tools.length).toBeGreaterThan(1);
    expect(characters).toBeLessThanOrEqual(PAGE_CHARACTERS);
    listed.push(...page.tools.map(({ name }) => name));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(listed).toEqual(names);
});
