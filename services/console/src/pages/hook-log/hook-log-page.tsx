import { Page } from "../../ui/page.tsx";

export function HookLogPage() {
  return <Page title="hook-log">{null}</Page>;
}
