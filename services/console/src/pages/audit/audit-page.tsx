import { Page } from "../../ui/page.tsx";

export function AuditPage() {
  return <Page title="audit">{null}</Page>;
}
