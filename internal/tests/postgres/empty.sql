DO $$
DECLARE
	found name;
	remains bool;
BEGIN
	SET LOCAL lock_timeout = '2s';
	SET LOCAL client_min_messages = error;
	-- Many objects are dropped faster with their database.
	IF (SELECT count(*) FROM pg_class WHERE oid >= 16384) > 1000 THEN
		RAISE EXCEPTION 'too many objects';
	END IF;
	PERFORM pg_terminate_backend(pid, 2000) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid();
	PERFORM pg_stat_clear_snapshot();
	IF EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()) THEN
		RAISE EXCEPTION 'a connection remains open';
	END IF;
	FOR found IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
		EXECUTE format('DROP SCHEMA %I CASCADE', found);
	END LOOP;
	PERFORM pg_stat_reset();
	CREATE SCHEMA public;
	COMMENT ON SCHEMA public IS 'standard public schema';
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER SCHEMA public OWNER TO pg_database_owner;
		GRANT USAGE ON SCHEMA public TO PUBLIC;
	ELSE
		GRANT ALL ON SCHEMA public TO PUBLIC;
	END IF;
	-- Objects of a new database have smaller oids. Large objects, event triggers and extensions have no schema.
	FOR found IN SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r'
		AND NOT relisshared AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'oid')
	LOOP
		EXECUTE format('SELECT EXISTS (SELECT FROM pg_catalog.%I WHERE oid >= 16384 AND oid <> %s)',
			found, 'public'::regnamespace::oid) INTO remains;
		IF remains THEN
			RAISE EXCEPTION '% has rows', found;
		END IF;
	END LOOP;
	IF EXISTS (SELECT FROM pg_database WHERE datname = current_database() AND
			(datacl IS NOT NULL OR datconnlimit <> -1 OR datistemplate))
		OR EXISTS (SELECT FROM pg_db_role_setting JOIN pg_database ON setdatabase = pg_database.oid
			WHERE datname = current_database())
		OR EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database())
		OR EXISTS (SELECT FROM pg_replication_slots WHERE database = current_database())
	THEN
		RAISE EXCEPTION 'the database is not as it was';
	END IF;
END $$
