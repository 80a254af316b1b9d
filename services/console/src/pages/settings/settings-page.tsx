import { SETTINGS } from "../../text/en/settings.ts";
import { Page } from "../../ui/page/page.tsx";
import { Part } from "../../ui/page/part.tsx";
import { ApiDescription } from "./api-description.tsx";
import styles from "./settings.module.css";

/** What holds for the whole workspace. */
export function SettingsPage() {
  return (
    <Page title={SETTINGS.title}>
      <div className={styles.parts}>
        <Part title={SETTINGS.api}>
          <p className={styles.dim}>{SETTINGS.apiText}</p>
          <ApiDescription />
        </Part>
      </div>
    </Page>
  );
}
