import {
  concatAST,
  type DefinitionNode,
  type DocumentNode,
  GraphQLError,
  Kind,
  print,
  separateOperations,
} from 'graphql';
import { isFragment, isOperation } from './document-limits.ts';

type SingleOperation = {
  readonly name: string | undefined;
  /** The operation and the fragments that it uses, as graphql prints them. */
  readonly text: string;
  /** The names of the sources that these were found in, comma-separated. */
  readonly from: string;
};

/**
 * Makes a document of each operation, with the fragments that it uses, whichever source they are in. Throws a GraphQLError
 * where two fragments have one name.
 */
export const singleOperations = (sources: readonly DocumentNode[]): readonly SingleOperation[] => {
  const { definitions } = concatAST(sources);
  const fragments = definitions.filter(isFragment);
  for (const [name, namesakes] of Map.groupBy(fragments, (fragment) => fragment.name.value))
    if (namesakes.length > 1)
      throw new GraphQLError(
        `${sourcesOf(namesakes)}: expected one fragment of each name, got ${namesakes.length} called ${name}`,
      );
  return definitions.filter(isOperation).flatMap((operation) => {
    const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] };
    return Object.values(separateOperations(whole)).map((document) => ({
      name: operation.name?.value,
      text: print(document),
      from: sourcesOf(document.definitions),
    }));
  });
};

const sourcesOf = (definitions: readonly DefinitionNode[]): string =>
  [...new Set(definitions.map(({ loc }) => loc?.source.name))].join(', ');
