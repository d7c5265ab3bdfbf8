import CoreData

/// Grants the new tables and sequences to every role with rights on the old ones. Other new tables get the store's
/// owner, and functions get the owner of their table. Run in the migration's transaction by a role that may not be the
/// store's owner: a superuser, or a member of the owner's role.
struct ServerMigrationRights {
    /// The layout of the new version.
    let layout: ServerLayout
    let connection: any ServerConnection

    /// - Parameter replaced: the replaced tables and sequences, with the names of their replacements.
    func passOn(_ replaced: [(old: String, new: String)]) throws {
        for place in replaced { try grant(place.new, asFor: place.old) }
        try giveTables()
        try giveFunctions()
        try giveViews()
    }

    private func run(_ statements: [ServerStatement]) throws {
        let texts = try connection.run(statements).flatMap(\.texts)
        _ = try connection.run(texts.map { ServerStatement($0) })
    }

    private func text(_ value: String) -> ServerArgument { .value(.text(value), .text) }

    /// Grants a new table or sequence the rights and the owner of the one that it replaces.
    private func grant(_ now: String, asFor before: String) throws {
        let (now, before) = (layout.tableText(now), layout.tableText(before))
        try run([
            ServerStatement(
                "SELECT format('GRANT %s ON %s %s TO %s%s', a.privilege_type, CASE c.relkind WHEN 'S' THEN "
                    + "'SEQUENCE' ELSE 'TABLE' END, ?, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE "
                    + "quote_ident(pg_get_userbyid(a.grantee)) END, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' "
                    + "ELSE '' END) FROM pg_catalog.pg_class AS c, aclexplode(c.relacl) AS a "
                    + "WHERE c.oid = ?::regclass AND a.grantee <> c.relowner",
                [text(now), text(before)]),
            // A sequence that is owned by a table always has the table's owner.
            ServerStatement(
                "SELECT format('ALTER TABLE %s OWNER TO %I', ?, pg_get_userbyid(c.relowner)) "
                    + "FROM pg_catalog.pg_class AS c, pg_catalog.pg_class AS d WHERE c.oid = ?::regclass "
                    + "AND d.oid = ?::regclass AND c.relkind IN ('r', 'p') AND c.relowner <> d.relowner",
                [text(now), text(before), text(now)]),
        ])
    }

    /// Gives tables of the new version to the store's owner, unless the owner may not create tables in the schema,
    /// which the server requires.
    private func giveTables() throws {
        let names = layout.tables.map(\.name) + layout.joinTables.map(\.name)
        try run([
            ServerStatement(
                "SELECT format('ALTER TABLE %I.%I OWNER TO %I', n.nspname, c.relname, pg_get_userbyid(s.relowner)) "
                    + "FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace, "
                    + "pg_catalog.pg_class AS s WHERE n.nspname = ? AND c.relname = ANY(?) AND c.relkind IN ('r', 'p') "
                    + "AND s.oid = ?::regclass AND c.relowner <> s.relowner AND pg_get_userbyid(c.relowner) = current_user AND "
                    + "has_schema_privilege(s.relowner, n.oid, 'CREATE')",
                [
                    text(layout.schemaName), .list(names.map { .text($0) }, .text),
                    text(layout.tableText(ServerStoreTables.store)),
                ])
        ])
    }

    /// Gives the views to the store's owner, and the right to read them to roles that may read `_store`.
    private func giveViews() throws {
        let store = text(layout.tableText(ServerStoreTables.store))
        for name in ServerViews(layout: layout).names.map(layout.tableText) {
            try run([
                ServerStatement(
                    "SELECT format('GRANT SELECT ON %s TO %s', ?, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE "
                        + "quote_ident(pg_get_userbyid(a.grantee)) END) FROM pg_catalog.pg_class AS c, "
                        + "aclexplode(c.relacl) AS a WHERE c.oid = ?::regclass AND a.grantee <> c.relowner "
                        + "AND a.privilege_type = 'SELECT'", [text(name), store]),
                // The migrating role remains the owner of the views if the store's owner may not create any.
                ServerStatement(
                    "SELECT format('GRANT SELECT ON %s TO %I', ?, pg_get_userbyid(s.relowner)) "
                        + "FROM pg_catalog.pg_class AS s WHERE s.oid = ?::regclass "
                        + "AND pg_get_userbyid(s.relowner) <> current_user", [text(name), store]),
                ServerStatement(
                    "SELECT format('ALTER VIEW %s OWNER TO %I', ?, pg_get_userbyid(s.relowner)) "
                        + "FROM pg_catalog.pg_class AS c, pg_catalog.pg_class AS s WHERE c.oid = ?::regclass "
                        + "AND s.oid = ?::regclass AND c.relowner <> s.relowner AND "
                        + "has_schema_privilege(s.relowner, c.relnamespace, 'CREATE')", [text(name), text(name), store]),
            ])
        }
    }

    /// Gives the functions of a table's derived attributes to the table's owner, who could not replace them otherwise.
    private func giveFunctions() throws {
        let names = ServerDerivedText(layout: layout).functionNames + [ServerSchemaText.signature]
        try run([
            ServerStatement(
                "SELECT DISTINCT format('ALTER FUNCTION %I.%I() OWNER TO %I', n.nspname, f.proname, "
                    + "pg_get_userbyid(c.relowner)) FROM pg_catalog.pg_trigger AS t "
                    + "JOIN pg_catalog.pg_class AS c ON c.oid = t.tgrelid "
                    + "JOIN pg_catalog.pg_proc AS f ON f.oid = t.tgfoid "
                    + "JOIN pg_catalog.pg_namespace AS n ON n.oid = f.pronamespace AND n.oid = c.relnamespace "
                    + "WHERE n.nspname = ? AND f.proname = ANY(?) AND f.proowner <> c.relowner AND "
                    + "has_schema_privilege(c.relowner, n.oid, 'CREATE')",
                [text(layout.schemaName), .list(names.map { .text($0) }, .text)])
        ])
    }
}
