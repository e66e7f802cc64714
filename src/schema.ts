import './graph/scalars.ts';
import './graph/node.ts';
import './lookups/chains/chains-schema.ts';
import './lookups/wallet.ts';
import './lookups/tokens/token.ts';
import './lookups/registry.ts';
import './lookups/balances/portfolio.ts';
import './webhooks/schema/webhook.ts';
import './webhooks/schema/payloads.ts';
import './webhooks/schema/mutations.ts';
import './webhooks/schema/attempts.ts';
import './webhooks/schema/watched-wallets.ts';
import './deliveries/schema/fields.ts';
import './deliveries/schema/replay.ts';
import {
  GraphQLDeferDirective,
  GraphQLStreamDirective,
  lexicographicSortSchema,
  specifiedDirectives,
} from 'graphql';
import { withWeighedFields } from './graph/answer/weighed-fields.ts';
import { builder } from './graph/builder.ts';
import { createPlannedSchema } from './graph/plan/planned-schema.ts';
import { SemanticNonNullDirective, withErrorsOfNulls } from './graph/semantic-non-null.ts';

const built = builder.toSchema({
  sortSchema: false,
  directives: [
    ...specifiedDirectives,
    GraphQLDeferDirective,
    GraphQLStreamDirective,
    SemanticNonNullDirective,
  ],
});

/** The schema. Each feature adds itself to the builder when it is imported: all lookups by their registry. */
export const schema = withWeighedFields(withErrorsOfNulls(lexicographicSortSchema(built)));

/** The same schema for operations whose lists are written by plans. */
export const plannedSchema = createPlannedSchema(withWeighedFields(withErrorsOfNulls(built)), schema);
