import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import * as v from "valibot";
import { LoginPage } from "./pages/login/login.tsx";
import { Failed, NoAccess, NotFound } from "./pages/shell/messages.tsx";
import { Shell } from "./pages/shell/shell.tsx";
import { Search as AssistantSearch } from "./routes/assistant.ts";
import { Search as AuditSearch } from "./routes/audit.ts";
import { Search as BuilderSearch } from "./routes/builder.ts";
import { Search as DeliveriesSearch } from "./routes/deliveries.ts";
import { Search as EndpointsSearch } from "./routes/endpoints.ts";
import { Search as EventsSearch } from "./routes/events.ts";
import { Search as HookLogSearch } from "./routes/hook-log.ts";
import { Search as HooksSearch } from "./routes/hooks.ts";
import { Search as KeysSearch } from "./routes/keys.ts";
import { Search as MembersSearch } from "./routes/members.ts";
import { Search as NamedSearch } from "./routes/named-list.ts";
import { Search as ReferenceSearch } from "./routes/reference.ts";
import { Search as RunsSearch } from "./routes/runs.ts";
import { parseSearch, stringifySearch, text } from "./routes/search.ts";
import { Search as ToolSearch } from "./routes/tool.ts";
import { Search as ToolsSearch } from "./routes/tools.ts";
import { Search as UndeliveredSearch } from "./routes/undelivered.ts";
import { Search as UsageSearch } from "./routes/usage.ts";
import { loadSession, sessionStore } from "./rpc/session.ts";
import { useCanManage } from "./rpc/use-session.ts";

const root = createRootRoute({
  validateSearch: v.object({ workspace: text }),
  search: { middlewares: [retainSearchParams(["workspace"])] },
  notFoundComponent: NotFound,
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: v.object({ next: text }),
  component: () => <LoginPage next={login.useSearch().next} />,
});

/** For holders of a key, who need no login. */
const reference = createRoute({
  getParentRoute: () => root,
  path: "/reference",
  validateSearch: ReferenceSearch,
  component: lazyRouteComponent(() => import("./pages/reference/reference-page.tsx"), "ReferencePage"),
});

const join = createRoute({
  getParentRoute: () => root,
  path: "/join",
  component: lazyRouteComponent(() => import("./pages/login/join-page.tsx"), "JoinPage"),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: "/new-password",
  component: lazyRouteComponent(() => import("./pages/login/new-password-page.tsx"), "NewPasswordPage"),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ location }) => {
    if (sessionStore.get() ?? (await loadSession())) return;
    throw redirect({ to: "/login", search: { next: `/manage${location.href}` } });
  },
  component: Shell,
});

/** Pages for managers and admins. */
const managed = createRoute({
  getParentRoute: () => shell,
  id: "managed",
  component: () => (useCanManage() ? <Outlet /> : <NoAccess />),
});

/** The first page: for members, that is the tools. */
const index = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: () => (useCanManage() ? <Overview /> : <Navigate to="/tools" replace />),
});
const Overview = lazyRouteComponent(() => import("./pages/overview/overview-page.tsx"), "OverviewPage");

const tools = createRoute({
  getParentRoute: () => shell,
  path: "/tools",
  validateSearch: ToolsSearch,
  component: lazyRouteComponent(() => import("./pages/tools/tools-page.tsx"), "ToolsPage"),
});

const tool = createRoute({
  getParentRoute: () => shell,
  path: "/tools/$name",
  validateSearch: ToolSearch,
  component: lazyRouteComponent(() => import("./pages/tool/tool-page.tsx"), "ToolPage"),
});

const account = createRoute({
  getParentRoute: () => shell,
  path: "/account",
  component: lazyRouteComponent(() => import("./pages/account/account-page.tsx"), "AccountPage"),
});

const assistants = createRoute({
  getParentRoute: () => shell,
  path: "/assistants",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/assistants/assistants-page.tsx"), "AssistantsPage"),
});

const assistant = createRoute({
  getParentRoute: () => shell,
  path: "/assistants/$name",
  validateSearch: AssistantSearch,
  component: lazyRouteComponent(() => import("./pages/assistant/assistant-page.tsx"), "AssistantPage"),
});

const builder = createRoute({
  getParentRoute: () => managed,
  path: "/builder",
  validateSearch: BuilderSearch,
  component: lazyRouteComponent(() => import("./pages/builder/builder-page.tsx"), "BuilderPage"),
});

const chats = createRoute({
  getParentRoute: () => shell,
  path: "/chats",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/chats/chats-page.tsx"), "ChatsPage"),
});

const models = createRoute({
  getParentRoute: () => managed,
  path: "/models",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/models/models-page.tsx"), "ModelsPage"),
});

const usage = createRoute({
  getParentRoute: () => managed,
  path: "/usage",
  validateSearch: UsageSearch,
  component: lazyRouteComponent(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
});

const runs = createRoute({
  getParentRoute: () => managed,
  path: "/runs",
  validateSearch: RunsSearch,
  component: lazyRouteComponent(() => import("./pages/runs/runs-page.tsx"), "RunsPage"),
});

const keys = createRoute({
  getParentRoute: () => managed,
  path: "/api-keys",
  validateSearch: KeysSearch,
  component: lazyRouteComponent(() => import("./pages/keys/keys-page.tsx"), "KeysPage"),
});

const endpoints = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks",
  validateSearch: EndpointsSearch,
  component: lazyRouteComponent(() => import("./pages/endpoints/endpoints-page.tsx"), "EndpointsPage"),
});

const deliveries = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/deliveries",
  validateSearch: DeliveriesSearch,
  component: lazyRouteComponent(() => import("./pages/deliveries/deliveries-page.tsx"), "DeliveriesPage"),
});

const undelivered = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/undelivered",
  validateSearch: UndeliveredSearch,
  component: lazyRouteComponent(() => import("./pages/undelivered/undelivered-page.tsx"), "UndeliveredPage"),
});

const events = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/events",
  validateSearch: EventsSearch,
  component: lazyRouteComponent(() => import("./pages/events/events-page.tsx"), "EventsPage"),
});

const hooks = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/hooks",
  validateSearch: HooksSearch,
  component: lazyRouteComponent(() => import("./pages/hooks/hooks-page.tsx"), "HooksPage"),
});

const hookLog = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/calls",
  validateSearch: HookLogSearch,
  component: lazyRouteComponent(() => import("./pages/hook-log/hook-log-page.tsx"), "HookLogPage"),
});

const variables = createRoute({
  getParentRoute: () => managed,
  path: "/variables",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/data/variables-page.tsx"), "VariablesPage"),
});

const secrets = createRoute({
  getParentRoute: () => managed,
  path: "/secrets",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/data/secrets-page.tsx"), "SecretsPage"),
});

const queries = createRoute({
  getParentRoute: () => managed,
  path: "/queries",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/data/queries-page.tsx"), "QueriesPage"),
});

const sheets = createRoute({
  getParentRoute: () => managed,
  path: "/sheets",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/data/sheets-page.tsx"), "SheetsPage"),
});

const members = createRoute({
  getParentRoute: () => managed,
  path: "/members",
  validateSearch: MembersSearch,
  component: lazyRouteComponent(() => import("./pages/members/members-page.tsx"), "MembersPage"),
});

const settings = createRoute({
  getParentRoute: () => managed,
  path: "/settings",
  component: lazyRouteComponent(() => import("./pages/settings/settings-page.tsx"), "SettingsPage"),
});

const audit = createRoute({
  getParentRoute: () => managed,
  path: "/audit",
  validateSearch: AuditSearch,
  component: lazyRouteComponent(() => import("./pages/audit/audit-page.tsx"), "AuditPage"),
});

const components = createRoute({
  getParentRoute: () => managed,
  path: "/components",
  component: lazyRouteComponent(() => import("./pages/components/components-page.tsx"), "ComponentsPage"),
});

const pages = managed.addChildren([
  builder,
  components,
  models,
  usage,
  runs,
  keys,
  endpoints,
  deliveries,
  undelivered,
  events,
  hooks,
  hookLog,
  variables,
  secrets,
  queries,
  sheets,
  members,
  settings,
  audit,
]);

export const router = createRouter({
  basepath: "/manage",
  routeTree: root.addChildren([
    login,
    reference,
    join,
    newPassword,
    shell.addChildren([index, tools, tool, assistants, assistant, chats, account, pages]),
  ]),
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Failed,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
