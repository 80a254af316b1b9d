import { createRoute, lazyRouteComponent, Navigate } from "@tanstack/react-router";
import { Search as AssistantSearch } from "../routes/assistant.ts";
import { Search as NamedSearch } from "../routes/named-list.ts";
import { Search as ToolSearch } from "../routes/tool.ts";
import { Search as ToolsSearch } from "../routes/tools.ts";
import { useCanManage } from "../rpc/use-session.ts";
import { shell } from "./shell.ts";

/** The first page: for those who may not manage, that is the tools. */
const index = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: () => (useCanManage() ? <Overview /> : <Navigate to="/tools" replace />),
});

const Overview = lazyRouteComponent(() => import("../pages/overview/overview-page.tsx"), "OverviewPage");

const tools = createRoute({
  getParentRoute: () => shell,
  path: "/tools",
  validateSearch: ToolsSearch,
  component: lazyRouteComponent(() => import("../pages/tools/tools-page.tsx"), "ToolsPage"),
});

const tool = createRoute({
  getParentRoute: () => shell,
  path: "/tools/$name",
  validateSearch: ToolSearch,
  component: lazyRouteComponent(() => import("../pages/tool/tool-page.tsx"), "ToolPage"),
});

const assistants = createRoute({
  getParentRoute: () => shell,
  path: "/assistants",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("../pages/assistants/assistants-page.tsx"), "AssistantsPage"),
});

const assistant = createRoute({
  getParentRoute: () => shell,
  path: "/assistants/$name",
  validateSearch: AssistantSearch,
  component: lazyRouteComponent(() => import("../pages/assistant/assistant-page.tsx"), "AssistantPage"),
});

const chats = createRoute({
  getParentRoute: () => shell,
  path: "/chats",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("../pages/chats/chats-page.tsx"), "ChatsPage"),
});

const account = createRoute({
  getParentRoute: () => shell,
  path: "/account",
  component: lazyRouteComponent(() => import("../pages/account/account-page.tsx"), "AccountPage"),
});

/** Those of every member of a workspace. */
export const memberPages = [index, tools, tool, assistants, assistant, chats, account];
