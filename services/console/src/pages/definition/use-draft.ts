import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { useEffect, useState } from "react";
import { isSame } from "./diff/definition-text.ts";
import type { Versioned } from "./versioned.ts";

/** A definition that is being edited. Members that no field knows stay as they are. */
export interface Draft {
  definition: JsonObject;
  /** Undefined removes the member. */
  set: (member: string, value: JsonValue | undefined) => void;
  /** As a whole. */
  rewrite: (definition: JsonObject) => void;
  /** Texts that are no value yet, by the part of the definition: what is wrong with each. */
  broken: Readonly<Record<string, string>>;
  setBroken: (part: string, message: string | undefined) => void;
  isChanged: boolean;
  /** The saved version that the draft began from. */
  base: Versioned;
  /** This draft has been saved; what was typed meanwhile stays. */
  saved: (as: Versioned) => void;
  /** Another one whenever the draft was replaced: fields that keep a text of their own then begin anew. */
  generation: number;
}

export function useDraft(newest: Versioned): Draft {
  const [base, setBase] = useState(newest);
  const [definition, setDefinition] = useState<JsonObject>(newest.definition ?? {});
  const [broken, setAllBroken] = useState<Readonly<Record<string, string>>>({});
  const [generation, setGeneration] = useState(0);
  const isChanged = Object.keys(broken).length > 0 || !isSame(definition, base.definition ?? {});
  const replace = (next: JsonObject) => {
    setDefinition(next);
    setAllBroken({});
    setGeneration((before) => before + 1);
  };
  // Somebody else saved a version, and there is nothing of this user's to lose.
  useEffect(() => {
    if (newest.version <= base.version || isChanged) return;
    setBase(newest);
    replace(newest.definition ?? {});
  }, [newest, base.version, isChanged]);
  return {
    definition,
    set: (member, value) =>
      setDefinition(({ ...next }) => {
        if (value === undefined) delete next[member];
        else next[member] = value;
        return next;
      }),
    rewrite: setDefinition,
    broken,
    setBroken: (part, message) =>
      setAllBroken(({ [part]: _, ...rest }) => (message === undefined ? rest : { ...rest, [part]: message })),
    isChanged,
    base,
    saved: setBase,
    generation,
  };
}
