import { Page } from "../../ui/page.tsx";

export function UndeliveredPage() {
  return <Page title="undelivered">{null}</Page>;
}
