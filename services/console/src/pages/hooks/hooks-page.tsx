import { Page } from "../../ui/page.tsx";

export function HooksPage() {
  return <Page title="hooks">{null}</Page>;
}
