import { SHELL } from "../../text/en/shell.ts";
import type { IconName } from "../../ui/icon.tsx";

interface Item {
  to: string;
  label: string;
  icon: IconName;
  /** Members see it too. */
  forMembers?: boolean;
}

/** The pages by group, as the palette offers them too. */
export const PAGES: readonly (readonly Item[])[] = [
  [
    { to: "/", label: SHELL.overview, icon: "overview" },
    { to: "/tools", label: SHELL.tools, icon: "tool", forMembers: true },
    { to: "/builder", label: SHELL.builder, icon: "pen" },
    { to: "/runs", label: SHELL.runs, icon: "run" },
  ],
  [
    { to: "/assistants", label: SHELL.assistants, icon: "assistant", forMembers: true },
    { to: "/models", label: SHELL.models, icon: "model" },
    { to: "/chats", label: SHELL.chats, icon: "chat", forMembers: true },
    { to: "/usage", label: SHELL.usage, icon: "bars" },
  ],
  [
    { to: "/api-keys", label: SHELL.keys, icon: "key" },
    { to: "/webhooks", label: SHELL.endpoints, icon: "endpoint" },
    { to: "/webhooks/deliveries", label: SHELL.deliveries, icon: "list" },
    { to: "/webhooks/undelivered", label: SHELL.undelivered, icon: "inbox" },
    { to: "/webhooks/events", label: SHELL.events, icon: "book" },
    { to: "/webhooks/hooks", label: SHELL.hooks, icon: "hook" },
    { to: "/webhooks/calls", label: SHELL.hookLog, icon: "list" },
  ],
  [
    { to: "/variables", label: SHELL.variables, icon: "braces" },
    { to: "/secrets", label: SHELL.secrets, icon: "lock" },
    { to: "/queries", label: SHELL.queries, icon: "database" },
    { to: "/sheets", label: SHELL.sheets, icon: "sheet" },
  ],
  [
    { to: "/members", label: SHELL.members, icon: "people" },
    { to: "/settings", label: SHELL.settings, icon: "settings" },
    { to: "/audit", label: SHELL.audit, icon: "audit" },
  ],
];
