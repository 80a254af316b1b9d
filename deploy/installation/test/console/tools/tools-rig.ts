import type { Page } from "playwright-core";
import type { ConsoleRig } from "../console-rig.ts";

export const handler = "export default () => ({ success: true });";

interface SavedTool {
  version: number;
  definition: Record<string, unknown>;
}

export async function saved(rig: ConsoleRig, name: string): Promise<SavedTool> {
  return (await rig.toolgate.manage<{ tool: SavedTool }>("tool_runner.v1.ToolService/GetTool", { name })).tool;
}

/** Opens a tool's editor, once the server has checked the definition. */
export async function openEditor(rig: ConsoleRig, name: string, options = {}): Promise<Page> {
  const page = await rig.open(`/tools/${name}`, options);
  await page.getByText("No problems: this can be saved.").waitFor();
  return page;
}

export const saveButton = (page: Page) => page.getByRole("button", { name: "Save", exact: true });

export async function save(page: Page, version: number): Promise<void> {
  await saveButton(page).click();
  await page.getByText(new RegExp(`^Version ${version}, `)).waitFor();
}

export const description = (page: Page) => page.getByLabel("Description", { exact: true }).first();
export const flags = (page: Page) => page.getByRole("group", { name: "Who may call it" });
export const code = (page: Page, label: string) => page.getByRole("textbox", { name: label, exact: true });

/** Replaces the text of a code editor, by its keys: what is selected and typed over, Chromium deletes with styles of its own. */
export async function rewrite(page: Page, label: string, text: string): Promise<void> {
  await code(page, label).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}
