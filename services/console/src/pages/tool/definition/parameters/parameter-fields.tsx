import { EDITOR } from "../../../../text/en/tools/tool-editor.ts";
import { Button } from "../../../../ui/button.tsx";
import { Checkbox, Input, Select } from "../../../../ui/form/input.tsx";
import { Icon } from "../../../../ui/icon.tsx";
import styles from "../tool-definition.module.css";
import { type ParameterRow, TYPES } from "./parameter-rows.ts";

const TYPE_OPTIONS = TYPES.map((type) => [type, type] as const);

interface ParameterFieldsProps {
  rows: ParameterRow[];
  onRows: (rows: ParameterRow[]) => void;
  readOnly: boolean;
}

export function ParameterFields({ rows, onRows, readOnly }: ParameterFieldsProps) {
  const change = (index: number, changes: Partial<ParameterRow>) =>
    onRows(rows.map((row, at) => (at === index ? { ...row, ...changes } : row)));
  return rows.map((row, index) => {
    const { name, type, isRequired, description, rest } = row;
    const others = Object.keys(rest).join(", ");
    return (
      // A row has no identity but its place: its name is being typed.
      // biome-ignore lint/suspicious/noArrayIndexKey: every field of a row is set from outside
      <fieldset key={index} disabled={readOnly} className={styles.parameter} aria-label={name || EDITOR.parameterName}>
        <Input
          data-mono
          aria-label={EDITOR.parameterName}
          placeholder={EDITOR.parameterName}
          value={name}
          autoFocus={!readOnly && name === ""}
          onChange={({ target }) => change(index, { name: target.value })}
        />
        <Select
          aria-label={EDITOR.parameterType}
          options={TYPE_OPTIONS}
          value={type}
          onValue={(value) => change(index, { type: value })}
        />
        <Checkbox
          label={EDITOR.parameterRequired}
          checked={isRequired}
          onChange={({ target }) => change(index, { isRequired: target.checked })}
        />
        <Input
          aria-label={EDITOR.parameterText}
          placeholder={EDITOR.parameterText}
          value={description}
          onChange={({ target }) => change(index, { description: target.value })}
        />
        {!readOnly && (
          <Button
            kind="quiet"
            aria-label={EDITOR.removeParameter(name)}
            onClick={() => onRows(rows.filter((_, at) => at !== index))}
          >
            <Icon name="close" />
          </Button>
        )}
        {others !== "" && <span className={styles.others}>{EDITOR.alsoHas(others)}</span>}
      </fieldset>
    );
  });
}
