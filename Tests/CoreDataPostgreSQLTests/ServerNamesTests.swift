#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Names of models and roles that have another meaning for the server.
    @Suite struct ServerNamesTests {
        /// Each table has system columns with these names.
        @Test(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
        func attributesMayHaveTheNamesOfSystemColumns() throws {
            let names = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid", "user", "_id"]
            let row = Shop.entity("xmin", names.map { Shop.attribute($0, .stringAttributeType) })
            let other = Shop.entity("ctid", [Shop.attribute("name", .stringAttributeType)])
            Shop.relate(row, "tableoid_", other, "rows")
            Shop.relate(other, "xmax", row, "cmax_", inverseMany: true)
            let model = NSManagedObjectModel()
            model.entities = [row, other]
            let stack = try ServerStack(model)
            try stack.inContext { context in
                let row = context.insert("xmin")
                for name in names { row.setValue("value of \(name)", forKey: name) }
                context.insert("ctid", ["name": "one", "xmax": Set([row])])
                try context.save()
            }
            try stack.reopen()
            try stack.inContext { context in
                let row = try #require(
                    try context.rows("xmin", "xmin == 'value of xmin' AND ANY cmax_.name == 'one'").first)
                for name in names { #expect(row.value(forKey: name) as? String == "value of \(name)") }
            }
        }

        /// A role's functions and types in a schema before `pg_catalog` change no result and no row.
        @Test(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
        func functionsOfARoleAreNotCalled() throws {
            let stack = try ServerStack(Shop.model())
            let own = "tricks_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? stack.psql("DROP SCHEMA \(own) CASCADE") }
            try stack.inContext { context in
                context.insert("Good", ["code": "abc", "stock": 3])
                try context.save()
            }
            let functions = [
                "strpos(text, text) RETURNS integer", "\"right\"(text, integer) RETURNS text",
                "set_config(text, text, boolean) RETURNS text", "pg_notify(text, text) RETURNS void",
                "hashtextextended(text, bigint) RETURNS bigint", "clock_timestamp() RETURNS timestamptz",
                "nextval(regclass) RETURNS bigint", "generate_series(integer, integer) RETURNS SETOF integer",
            ]
            var text = "CREATE SCHEMA \(own); "
            for function in functions {
                text += "CREATE FUNCTION \(own).\(function) LANGUAGE plpgsql AS $$BEGIN RAISE 'called'; END$$; "
            }
            for aggregate in ["sum", "max", "min"] {
                text += "CREATE AGGREGATE \(own).\(aggregate)(integer) (SFUNC = pg_catalog.int4mi, STYPE = integer); "
            }
            // Operators are resolved like functions, also those of IN and of text comparisons.
            for (left, right) in [
                ("text", "text"), ("integer", "integer"), ("integer", "bigint"), ("bigint", "bigint"),
            ] {
                let name = "\(own).no_\(left)_\(right)"
                text += "CREATE FUNCTION \(name)(\(left), \(right)) RETURNS boolean LANGUAGE sql AS 'SELECT false'; "
                for sign in ["=", "<>", "<", ">", "<=", ">="] {
                    text +=
                        "CREATE OPERATOR \(own).\(sign) (LEFTARG = \(left), RIGHTARG = \(right), FUNCTION = \(name)); "
                }
            }
            text += "CREATE TYPE \(own).float8 AS ENUM ('x'); CREATE TYPE \(own).int8 AS ENUM ('x'); "
            let schema = "\"\(stack.schema)\""
            try stack.asRole({ role in
                [
                    text + "ALTER ROLE \(role.sql) SET search_path = \(own), pg_catalog",
                    "GRANT USAGE ON SCHEMA \(own), \(schema) TO \(role.sql)",
                    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role.sql)",
                    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role.sql)",
                ]
            }) { context, _ in
                for predicate in [
                    "code CONTAINS 'b'", "code ENDSWITH 'c'", "stock == 3", "stock > 1", "code == 'abc'",
                    "code IN {'abc', 'd'}", "stock IN {3, 4}", "code > 'a'",
                ] {
                    #expect(try context.rows("Good", predicate).count == 1, "\(predicate)")
                }
                let request = NSFetchRequest<NSDictionary>(entityName: "Good")
                let sum = NSExpressionDescription()
                sum.name = "all"
                sum.expression = NSExpression(format: "sum:(stock)")
                sum.expressionResultType = .integer64AttributeType
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = [sum]
                #expect(try context.fetch(request).first?["all"] as? Int == 3)
                context.insert("Good", ["code": "new", "stock": 4])
                try context.rows("Good", "code == 'abc'").first?.setValue(5, forKey: "stock")
                try context.save()
                #expect(try context.fetch(request).first?["all"] as? Int == 9)
            }
        }
    }
#endif
