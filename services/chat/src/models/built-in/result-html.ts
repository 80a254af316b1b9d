import { escapeHtml } from "../../html/escape.ts";
import type { ToolResult } from "../model.ts";

/** How many entries of one list or object are shown, and how many levels. */
const MAX_ENTRIES = 20;
const MAX_LEVELS = 4;

/** A tool's result as HTML that people can read. */
export function resultHtml({ name, output, failed }: ToolResult): string {
  const tool = `<code>${escapeHtml(name)}</code>`;
  if (failed) return `<p>The tool ${tool} failed: ${escapeHtml(output)}</p>`;
  const value = parse(output);
  if (isEmpty(value)) return `<p>The tool ${tool} returned nothing.</p>`;
  if (typeof value !== "object") return `<p>The tool ${tool} returned: ${show(value, 0)}</p>`;
  return `<p>The tool ${tool} returned:</p>${show(value, 0)}`;
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}

function show(value: unknown, level: number): string {
  if (typeof value !== "object" || value === null) return escapeHtml(String(value));
  if (level === MAX_LEVELS) return "…";
  const entries = Object.entries(value);
  const items = entries.slice(0, MAX_ENTRIES).map(([key, member]) => {
    const label = Array.isArray(value) ? "" : `<b>${escapeHtml(key)}</b>: `;
    return `<li>${label}${show(member, level + 1)}</li>`;
  });
  const more = entries.length - items.length;
  if (more > 0) items.push(`<li>and ${more} more</li>`);
  return `<ul>${items.join("")}</ul>`;
}
