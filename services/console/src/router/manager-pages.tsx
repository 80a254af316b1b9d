import { createRoute, lazyRouteComponent, Outlet } from "@tanstack/react-router";
import { NoAccess } from "../pages/shell/messages.tsx";
import { Search as AuditSearch } from "../routes/audit.ts";
import { Search as BuilderSearch } from "../routes/builder.ts";
import { Search as DeliveriesSearch } from "../routes/deliveries.ts";
import { Search as EndpointsSearch } from "../routes/endpoints.ts";
import { Search as EventsSearch } from "../routes/events.ts";
import { Search as HookLogSearch } from "../routes/hook-log.ts";
import { Search as HooksSearch } from "../routes/hooks.ts";
import { Search as KeysSearch } from "../routes/keys.ts";
import { Search as MembersSearch } from "../routes/members.ts";
import { Search as NamedSearch } from "../routes/named-list.ts";
import { Search as RunsSearch } from "../routes/runs.ts";
import { Search as UndeliveredSearch } from "../routes/undelivered.ts";
import { Search as UsageSearch } from "../routes/usage.ts";
import { useCanManage } from "../rpc/use-session.ts";
import { shell } from "./shell.ts";

const managed = createRoute({
  getParentRoute: () => shell,
  id: "managed",
  component: () => (useCanManage() ? <Outlet /> : <NoAccess />),
});

const builder = createRoute({
  getParentRoute: () => managed,
  path: "/builder",
  validateSearch: BuilderSearch,
  component: lazyRouteComponent(() => import("../pages/builder/builder-page.tsx"), "BuilderPage"),
});

const models = createRoute({
  getParentRoute: () => managed,
  path: "/models",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("../pages/models/models-page.tsx"), "ModelsPage"),
});

const usage = createRoute({
  getParentRoute: () => managed,
  path: "/usage",
  validateSearch: UsageSearch,
  component: lazyRouteComponent(() => import("../pages/usage/usage-page.tsx"), "UsagePage"),
});

const runs = createRoute({
  getParentRoute: () => managed,
  path: "/runs",
  validateSearch: RunsSearch,
  component: lazyRouteComponent(() => import("../pages/runs/runs-page.tsx"), "RunsPage"),
});

const keys = createRoute({
  getParentRoute: () => managed,
  path: "/api-keys",
  validateSearch: KeysSearch,
  component: lazyRouteComponent(() => import("../pages/keys/keys-page.tsx"), "KeysPage"),
});

const endpoints = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks",
  validateSearch: EndpointsSearch,
  component: lazyRouteComponent(() => import("../pages/endpoints/endpoints-page.tsx"), "EndpointsPage"),
});

const deliveries = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/deliveries",
  validateSearch: DeliveriesSearch,
  component: lazyRouteComponent(() => import("../pages/deliveries/deliveries-page.tsx"), "DeliveriesPage"),
});

const undelivered = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/undelivered",
  validateSearch: UndeliveredSearch,
  component: lazyRouteComponent(() => import("../pages/undelivered/undelivered-page.tsx"), "UndeliveredPage"),
});

const events = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/events",
  validateSearch: EventsSearch,
  component: lazyRouteComponent(() => import("../pages/events/events-page.tsx"), "EventsPage"),
});

const hooks = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/hooks",
  validateSearch: HooksSearch,
  component: lazyRouteComponent(() => import("../pages/hooks/hooks-page.tsx"), "HooksPage"),
});

const hookLog = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/calls",
  validateSearch: HookLogSearch,
  component: lazyRouteComponent(() => import("../pages/hook-log/hook-log-page.tsx"), "HookLogPage"),
});

const variables = createRoute({
  getParentRoute: () => managed,
  path: "/variables",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("../pages/data/variables-page.tsx"), "VariablesPage"),
});

const secrets = createRoute({
  getParentRoute: () => managed,
  path: "/secrets",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("../pages/data/secrets-page.tsx"), "SecretsPage"),
});

const queries = createRoute({
  getParentRoute: () => managed,
  path: "/queries",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("../pages/data/queries-page.tsx"), "QueriesPage"),
});

const sheets = createRoute({
  getParentRoute: () => managed,
  path: "/sheets",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("../pages/data/sheets-page.tsx"), "SheetsPage"),
});

const members = createRoute({
  getParentRoute: () => managed,
  path: "/members",
  validateSearch: MembersSearch,
  component: lazyRouteComponent(() => import("../pages/members/members-page.tsx"), "MembersPage"),
});

const settings = createRoute({
  getParentRoute: () => managed,
  path: "/settings",
  component: lazyRouteComponent(() => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
});

const audit = createRoute({
  getParentRoute: () => managed,
  path: "/audit",
  validateSearch: AuditSearch,
  component: lazyRouteComponent(() => import("../pages/audit/audit-page.tsx"), "AuditPage"),
});

const components = createRoute({
  getParentRoute: () => managed,
  path: "/components",
  component: lazyRouteComponent(() => import("../pages/components/components-page.tsx"), "ComponentsPage"),
});

/** Those of managers and admins. */
export const managerPages = managed.addChildren([
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
