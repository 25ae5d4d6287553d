-- What the scripts make together; `make schema` writes it. Revision: 0017
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE avatars (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    file_name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    content BLOB NOT NULL,
    created_at TEXT NOT NULL
);
CREATE TABLE broadcast_messages (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    message TEXT NOT NULL,
    starts_at TEXT NOT NULL,
    ends_at TEXT NOT NULL,
    color TEXT NOT NULL,
    font TEXT NOT NULL
);
CREATE TABLE feature_flags (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    gates TEXT NOT NULL,
    CONSTRAINT uq_feature_flags_name UNIQUE (name)
);
CREATE TABLE instance_settings (
    id INTEGER NOT NULL,
    document TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT pk_instance_settings PRIMARY KEY (id)
);
CREATE TABLE job_failures (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    count BIGINT NOT NULL,
    CONSTRAINT uq_job_failures_kind UNIQUE (kind)
);
CREATE TABLE jobs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    state TEXT NOT NULL,
    run_at TEXT NOT NULL,
    placed_at TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    unique_key TEXT,
    lease TEXT,
    leased_until TEXT,
    last_error TEXT,
    created_at TEXT NOT NULL
);
CREATE INDEX ix_jobs_state_run_at ON jobs (state, run_at, id);
CREATE UNIQUE INDEX uq_jobs_waiting_unique_key ON jobs (unique_key) WHERE state = 'waiting';
CREATE TABLE recurring_jobs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    next_run_at TEXT NOT NULL,
    CONSTRAINT uq_recurring_jobs_name UNIQUE (name)
);
CREATE TABLE throttles (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "key" TEXT NOT NULL,
    ends_at TEXT NOT NULL,
    count BIGINT NOT NULL,
    CONSTRAINT uq_throttles_key UNIQUE ("key")
);
CREATE INDEX ix_throttles_ends_at ON throttles (ends_at);
CREATE TABLE topics (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    description TEXT,
    avatar_id INTEGER,
    avatar_file TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, described BOOLEAN DEFAULT 1 NOT NULL,
    CONSTRAINT fk_topics_avatar_id FOREIGN KEY(avatar_id) REFERENCES avatars (id) ON DELETE SET NULL,
    CONSTRAINT uq_topics_name_key UNIQUE (name_key)
);
CREATE TABLE users (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    username TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    state TEXT NOT NULL,
    admin BOOLEAN NOT NULL,
    external BOOLEAN NOT NULL,
    placeholder BOOLEAN NOT NULL,
    blocked_by_directory BOOLEAN NOT NULL,
    bio TEXT NOT NULL,
    location TEXT NOT NULL,
    skype TEXT NOT NULL,
    linkedin TEXT NOT NULL,
    twitter TEXT NOT NULL,
    website_url TEXT NOT NULL,
    organization TEXT NOT NULL,
    public_email TEXT NOT NULL,
    projects_limit BIGINT NOT NULL,
    can_create_group BOOLEAN NOT NULL,
    color_scheme_id BIGINT NOT NULL,
    two_factor_enabled BOOLEAN NOT NULL,
    avatar_id INTEGER,
    avatar_file TEXT,
    password_hash TEXT,
    password_expired BOOLEAN NOT NULL,
    confirmed_at TEXT,
    last_sign_in_at TEXT,
    current_sign_in_at TEXT,
    last_activity_on TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    username_key TEXT NOT NULL,
    name_key TEXT NOT NULL, proven_at TEXT,
    CONSTRAINT fk_users_avatar_id FOREIGN KEY(avatar_id) REFERENCES avatars (id) ON DELETE SET NULL,
    CONSTRAINT uq_users_email UNIQUE (email),
    CONSTRAINT uq_users_username_key UNIQUE (username_key)
);
CREATE INDEX ix_users_created_at ON users (created_at);
CREATE INDEX ix_users_external ON users (external);
CREATE INDEX ix_users_last_activity_on ON users (last_activity_on);
CREATE TABLE access_tokens (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    digest BLOB NOT NULL,
    sealed BLOB,
    revoked BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    last_used_at TEXT,
    name_key TEXT NOT NULL,
    CONSTRAINT fk_access_tokens_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_access_tokens_digest UNIQUE (digest)
);
CREATE INDEX ix_access_tokens_user_id_kind ON access_tokens (user_id, kind);
CREATE TABLE emails (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    email TEXT NOT NULL,
    confirmed_at TEXT,
    created_at TEXT NOT NULL, proven_at TEXT,
    CONSTRAINT fk_emails_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_emails_email UNIQUE (email)
);
CREATE INDEX ix_emails_user_id ON emails (user_id);
CREATE TABLE gpg_keys (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_gpg_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_gpg_keys_fingerprint UNIQUE (fingerprint)
);
CREATE INDEX ix_gpg_keys_user_id ON gpg_keys (user_id);
CREATE TABLE identities (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    provider TEXT NOT NULL,
    extern_uid TEXT NOT NULL,
    CONSTRAINT fk_identities_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_identities_provider_extern_uid UNIQUE (provider, extern_uid),
    CONSTRAINT uq_identities_user_id_provider UNIQUE (user_id, provider)
);
CREATE TABLE namespaces (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    full_path TEXT NOT NULL,
    full_name TEXT NOT NULL,
    owner_id INTEGER,
    parent_id INTEGER,
    visibility TEXT NOT NULL,
    description TEXT NOT NULL,
    lfs_enabled BOOLEAN NOT NULL,
    request_access_enabled BOOLEAN NOT NULL,
    share_with_group_lock BOOLEAN NOT NULL,
    avatar_id INTEGER,
    avatar_file TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    full_path_key TEXT NOT NULL,
    name_key TEXT NOT NULL, project_creation_level TEXT DEFAULT 'maintainer' NOT NULL,
    CONSTRAINT fk_namespaces_avatar_id FOREIGN KEY(avatar_id) REFERENCES avatars (id) ON DELETE SET NULL,
    CONSTRAINT fk_namespaces_owner_id FOREIGN KEY(owner_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_namespaces_parent_id FOREIGN KEY(parent_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT uq_namespaces_full_path_key UNIQUE (full_path_key),
    CONSTRAINT uq_namespaces_owner_id UNIQUE (owner_id),
    CONSTRAINT uq_namespaces_parent_id_name UNIQUE (parent_id, name)
);
CREATE INDEX ix_namespaces_name_key ON namespaces (kind, name_key, id, visibility);
CREATE INDEX ix_namespaces_parent_id ON namespaces (parent_id);
CREATE INDEX ix_namespaces_visibility ON namespaces (kind, visibility, id);
CREATE TABLE sessions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    ip TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    CONSTRAINT fk_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_sessions_digest UNIQUE (digest)
);
CREATE INDEX ix_sessions_expires_at ON sessions (expires_at);
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE TABLE ssh_keys (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER,
    title TEXT NOT NULL,
    "key" TEXT NOT NULL,
    kind TEXT NOT NULL,
    bits BIGINT NOT NULL,
    fingerprint_sha256 TEXT NOT NULL,
    fingerprint_md5 TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    last_used_at TEXT,
    CONSTRAINT fk_ssh_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_ssh_keys_fingerprint_sha256 UNIQUE (fingerprint_sha256)
);
CREATE INDEX ix_ssh_keys_fingerprint_md5 ON ssh_keys (fingerprint_md5);
CREATE INDEX ix_ssh_keys_user_id ON ssh_keys (user_id);
CREATE TABLE user_custom_attributes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT fk_user_custom_attributes_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_user_custom_attributes_user_id_key UNIQUE (user_id, "key")
);
CREATE TABLE user_followings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    follower_id INTEGER NOT NULL,
    followed_id INTEGER NOT NULL,
    CONSTRAINT fk_user_followings_followed_id FOREIGN KEY(followed_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_user_followings_follower_id FOREIGN KEY(follower_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_user_followings_follower_id_followed_id UNIQUE (follower_id, followed_id)
);
CREATE INDEX ix_user_followings_followed_id ON user_followings (followed_id);
CREATE TABLE user_statuses (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    emoji TEXT NOT NULL,
    message TEXT NOT NULL,
    availability TEXT NOT NULL,
    clear_at TEXT,
    CONSTRAINT fk_user_statuses_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_user_statuses_user_id UNIQUE (user_id)
);
CREATE TABLE access_requests (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_kind TEXT NOT NULL,
    source_id BIGINT NOT NULL,
    namespace_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    requested_at TEXT NOT NULL,
    CONSTRAINT fk_access_requests_namespace_id FOREIGN KEY(namespace_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_access_requests_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_access_requests_source_kind_source_id_user_id UNIQUE (source_kind, source_id, user_id)
);
CREATE TABLE memberships (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_kind TEXT NOT NULL,
    source_id BIGINT NOT NULL,
    namespace_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    access_level BIGINT NOT NULL,
    notification_level BIGINT NOT NULL,
    expires_at TEXT,
    created_at TEXT NOT NULL,
    created_by_id INTEGER,
    CONSTRAINT fk_memberships_created_by_id FOREIGN KEY(created_by_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_memberships_namespace_id FOREIGN KEY(namespace_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_memberships_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_memberships_source_kind_source_id_user_id UNIQUE (source_kind, source_id, user_id)
);
CREATE INDEX ix_memberships_expires_at ON memberships (expires_at);
CREATE INDEX ix_memberships_namespace_id ON memberships (namespace_id, user_id);
CREATE INDEX ix_memberships_user_id ON memberships (user_id, source_kind, source_id, access_level, expires_at, namespace_id);
CREATE TABLE namespace_tree (
    ancestor_id INTEGER NOT NULL,
    descendant_id INTEGER NOT NULL,
    CONSTRAINT pk_namespace_tree PRIMARY KEY (ancestor_id, descendant_id),
    CONSTRAINT fk_namespace_tree_ancestor_id FOREIGN KEY(ancestor_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_namespace_tree_descendant_id FOREIGN KEY(descendant_id) REFERENCES namespaces (id) ON DELETE CASCADE
);
CREATE INDEX ix_namespace_tree_descendant_id ON namespace_tree (descendant_id, ancestor_id);
CREATE TABLE one_time_links (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    email_id INTEGER,
    digest BLOB NOT NULL,
    expires_at TEXT NOT NULL,
    CONSTRAINT fk_one_time_links_email_id FOREIGN KEY(email_id) REFERENCES emails (id) ON DELETE CASCADE,
    CONSTRAINT fk_one_time_links_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_one_time_links_digest UNIQUE (digest)
);
CREATE INDEX ix_one_time_links_expires_at ON one_time_links (expires_at);
CREATE INDEX ix_one_time_links_user_id ON one_time_links (user_id);
CREATE TABLE path_redirects (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    full_path_key TEXT NOT NULL,
    namespace_id INTEGER NOT NULL,
    CONSTRAINT fk_path_redirects_namespace_id FOREIGN KEY(namespace_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT uq_path_redirects_full_path_key UNIQUE (full_path_key)
);
CREATE INDEX ix_path_redirects_namespace_id ON path_redirects (namespace_id);
CREATE TABLE projects (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    namespace_id INTEGER,
    creator_id INTEGER,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    full_path TEXT NOT NULL,
    description TEXT,
    visibility TEXT NOT NULL,
    default_branch TEXT NOT NULL,
    archived BOOLEAN NOT NULL,
    issues_enabled BOOLEAN NOT NULL,
    merge_requests_enabled BOOLEAN NOT NULL,
    jobs_enabled BOOLEAN NOT NULL,
    wiki_enabled BOOLEAN NOT NULL,
    snippets_enabled BOOLEAN NOT NULL,
    container_registry_enabled BOOLEAN NOT NULL,
    shared_runners_enabled BOOLEAN NOT NULL,
    lfs_enabled BOOLEAN NOT NULL,
    public_jobs BOOLEAN NOT NULL,
    request_access_enabled BOOLEAN NOT NULL,
    only_allow_merge_if_pipeline_succeeds BOOLEAN NOT NULL,
    only_allow_merge_if_all_discussions_are_resolved BOOLEAN NOT NULL,
    printing_merge_request_link_enabled BOOLEAN NOT NULL,
    ci_config_path TEXT,
    avatar_id INTEGER,
    avatar_file TEXT,
    import_status TEXT NOT NULL,
    import_error TEXT,
    import_url BLOB,
    import_progress TEXT,
    runners_token BLOB NOT NULL,
    forked_from_id INTEGER,
    forks_count BIGINT NOT NULL,
    star_count BIGINT NOT NULL,
    open_issues_count BIGINT NOT NULL,
    commit_count BIGINT NOT NULL,
    repository_size BIGINT NOT NULL,
    lfs_objects_size BIGINT NOT NULL,
    job_artifacts_size BIGINT NOT NULL,
    empty BOOLEAN NOT NULL,
    repository_key TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_activity_at TEXT NOT NULL,
    full_path_key TEXT NOT NULL,
    name_key TEXT NOT NULL,
    path_key TEXT NOT NULL, generation BIGINT DEFAULT '0' NOT NULL, merge_method TEXT DEFAULT 'merge' NOT NULL, squash_option TEXT DEFAULT 'default_off' NOT NULL, remove_source_branch_after_merge BOOLEAN DEFAULT 1 NOT NULL, repository_access_level TEXT DEFAULT 'enabled' NOT NULL,
    CONSTRAINT fk_projects_avatar_id FOREIGN KEY(avatar_id) REFERENCES avatars (id) ON DELETE SET NULL,
    CONSTRAINT fk_projects_creator_id FOREIGN KEY(creator_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_projects_forked_from_id FOREIGN KEY(forked_from_id) REFERENCES projects (id) ON DELETE SET NULL,
    CONSTRAINT fk_projects_namespace_id FOREIGN KEY(namespace_id) REFERENCES namespaces (id) ON DELETE SET NULL,
    CONSTRAINT uq_projects_full_path_key UNIQUE (full_path_key),
    CONSTRAINT uq_projects_namespace_id_name UNIQUE (namespace_id, name),
    CONSTRAINT uq_projects_repository_key UNIQUE (repository_key)
);
CREATE INDEX ix_projects_created_at ON projects (created_at, id, visibility, namespace_id, archived, issues_enabled, merge_requests_enabled);
CREATE INDEX ix_projects_creator_id ON projects (creator_id);
CREATE INDEX ix_projects_forked_from_id ON projects (forked_from_id);
CREATE INDEX ix_projects_last_activity_at ON projects (last_activity_at, id, visibility, namespace_id, archived, issues_enabled, merge_requests_enabled);
CREATE INDEX ix_projects_name_key ON projects (name_key, id, visibility, namespace_id, archived, issues_enabled, merge_requests_enabled);
CREATE INDEX ix_projects_namespace_id ON projects (namespace_id, id);
CREATE INDEX ix_projects_path_key ON projects (path_key, id, visibility, namespace_id, archived, issues_enabled, merge_requests_enabled);
CREATE INDEX ix_projects_star_count ON projects (star_count, id, visibility, namespace_id, archived, issues_enabled, merge_requests_enabled);
CREATE INDEX ix_projects_updated_at ON projects (updated_at, id, visibility, namespace_id, archived, issues_enabled, merge_requests_enabled);
CREATE INDEX ix_projects_visibility ON projects (visibility, namespace_id, archived, issues_enabled, merge_requests_enabled, id);
CREATE TABLE badges (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    group_id INTEGER,
    name TEXT,
    link_url TEXT NOT NULL,
    image_url TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_badges_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_badges_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX ix_badges_group_id ON badges (group_id);
CREATE INDEX ix_badges_project_id ON badges (project_id);
CREATE TABLE custom_attributes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    group_id INTEGER,
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT fk_custom_attributes_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_custom_attributes_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_custom_attributes_group_id_key UNIQUE (group_id, "key"),
    CONSTRAINT uq_custom_attributes_project_id_key UNIQUE (project_id, "key")
);
CREATE TABLE deploy_tokens (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    group_id INTEGER,
    creator_id INTEGER,
    name TEXT NOT NULL,
    given_username TEXT,
    scopes TEXT NOT NULL,
    digest BLOB NOT NULL,
    expires_at TEXT,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_deploy_tokens_creator_id FOREIGN KEY(creator_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_deploy_tokens_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_deploy_tokens_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_deploy_tokens_digest UNIQUE (digest)
);
CREATE INDEX ix_deploy_tokens_group_id ON deploy_tokens (group_id);
CREATE INDEX ix_deploy_tokens_project_id ON deploy_tokens (project_id);
CREATE TABLE environments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    external_url TEXT,
    state TEXT NOT NULL,
    tier TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    name_key TEXT NOT NULL,
    CONSTRAINT fk_environments_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_environments_project_id_external_url UNIQUE (project_id, external_url),
    CONSTRAINT uq_environments_project_id_name UNIQUE (project_id, name),
    CONSTRAINT uq_environments_project_id_slug UNIQUE (project_id, slug)
);
CREATE INDEX ix_environments_project_id ON environments (project_id, id);
CREATE TABLE project_redirects (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    namespace_id INTEGER NOT NULL,
    path_key TEXT NOT NULL,
    project_id INTEGER NOT NULL,
    CONSTRAINT fk_project_redirects_namespace_id FOREIGN KEY(namespace_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_project_redirects_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_project_redirects_namespace_id_path_key UNIQUE (namespace_id, path_key)
);
CREATE INDEX ix_project_redirects_project_id ON project_redirects (project_id);
CREATE TABLE project_shares (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    group_id INTEGER NOT NULL,
    group_access BIGINT NOT NULL,
    expires_at TEXT,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_project_shares_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_project_shares_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_project_shares_project_id_group_id UNIQUE (project_id, group_id)
);
CREATE INDEX ix_project_shares_group_id ON project_shares (group_id);
CREATE TABLE project_topics (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    CONSTRAINT fk_project_topics_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_project_topics_project_id_name_key UNIQUE (project_id, name_key)
);
CREATE INDEX ix_project_topics_name_key ON project_topics (name_key, project_id);
CREATE TABLE stars (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_stars_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_stars_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_stars_user_id_project_id UNIQUE (user_id, project_id)
);
CREATE INDEX ix_stars_project_id ON stars (project_id, user_id);
CREATE TABLE triggers (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    owner_id INTEGER,
    description TEXT NOT NULL,
    sealed_token BLOB NOT NULL,
    digest BLOB NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_used TEXT,
    CONSTRAINT fk_triggers_owner_id FOREIGN KEY(owner_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_triggers_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_triggers_digest UNIQUE (digest)
);
CREATE INDEX ix_triggers_project_id ON triggers (project_id, id);
CREATE TABLE uploads (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    user_id INTEGER,
    secret TEXT NOT NULL,
    name TEXT NOT NULL,
    size BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_uploads_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_uploads_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT uq_uploads_secret UNIQUE (secret)
);
CREATE INDEX ix_uploads_project_id ON uploads (project_id);
CREATE INDEX ix_uploads_user_id ON uploads (user_id);
CREATE TABLE variables (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    place TEXT NOT NULL,
    project_id INTEGER,
    group_id INTEGER,
    "key" TEXT NOT NULL,
    environment_scope TEXT NOT NULL,
    sealed_value BLOB NOT NULL,
    variable_type TEXT NOT NULL,
    protected BOOLEAN NOT NULL,
    masked BOOLEAN NOT NULL,
    hidden BOOLEAN NOT NULL,
    raw BOOLEAN NOT NULL,
    description TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_variables_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_variables_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_variables_place_key_environment_scope UNIQUE (place, "key", environment_scope)
);
CREATE INDEX ix_variables_group_id ON variables (group_id);
CREATE INDEX ix_variables_project_id ON variables (project_id);
CREATE TABLE deployments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    iid BIGINT NOT NULL,
    project_id INTEGER NOT NULL,
    environment_id INTEGER NOT NULL,
    user_id INTEGER,
    sha TEXT NOT NULL,
    ref TEXT NOT NULL,
    tag BOOLEAN NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    finished_at TEXT,
    CONSTRAINT fk_deployments_environment_id FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE,
    CONSTRAINT fk_deployments_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_deployments_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT uq_deployments_project_id_iid UNIQUE (project_id, iid)
);
CREATE INDEX ix_deployments_environment_id ON deployments (environment_id, id);
CREATE INDEX ix_deployments_project_id ON deployments (project_id, id);
CREATE TABLE group_shares (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    group_id INTEGER NOT NULL,
    invited_id INTEGER NOT NULL,
    group_access BIGINT NOT NULL,
    expires_at TEXT,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_group_shares_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_group_shares_invited_id FOREIGN KEY(invited_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT uq_group_shares_group_id_invited_id UNIQUE (group_id, invited_id)
);
CREATE INDEX ix_group_shares_invited_id ON group_shares (invited_id);
CREATE VIRTUAL TABLE projects_search USING fts5 (name_key, full_path_key, content='projects', content_rowid='id', tokenize='trigram case_sensitive 1');
CREATE TRIGGER projects_search_added AFTER INSERT ON projects BEGIN INSERT INTO projects_search (rowid, name_key, full_path_key) VALUES (new.id, new.name_key, new.full_path_key); END;
CREATE TRIGGER projects_search_dropped AFTER DELETE ON projects BEGIN INSERT INTO projects_search (projects_search, rowid, name_key, full_path_key) VALUES ('delete', old.id, old.name_key, old.full_path_key); END;
CREATE TRIGGER projects_search_changed AFTER UPDATE OF name_key, full_path_key ON projects BEGIN INSERT INTO projects_search (projects_search, rowid, name_key, full_path_key) VALUES ('delete', old.id, old.name_key, old.full_path_key); INSERT INTO projects_search (rowid, name_key, full_path_key) VALUES (new.id, new.name_key, new.full_path_key); END;
CREATE VIRTUAL TABLE namespaces_search USING fts5 (name_key, full_path_key, content='namespaces', content_rowid='id', tokenize='trigram case_sensitive 1');
CREATE TRIGGER namespaces_search_added AFTER INSERT ON namespaces BEGIN INSERT INTO namespaces_search (rowid, name_key, full_path_key) VALUES (new.id, new.name_key, new.full_path_key); END;
CREATE TRIGGER namespaces_search_dropped AFTER DELETE ON namespaces BEGIN INSERT INTO namespaces_search (namespaces_search, rowid, name_key, full_path_key) VALUES ('delete', old.id, old.name_key, old.full_path_key); END;
CREATE TRIGGER namespaces_search_changed AFTER UPDATE OF name_key, full_path_key ON namespaces BEGIN INSERT INTO namespaces_search (namespaces_search, rowid, name_key, full_path_key) VALUES ('delete', old.id, old.name_key, old.full_path_key); INSERT INTO namespaces_search (rowid, name_key, full_path_key) VALUES (new.id, new.name_key, new.full_path_key); END;
CREATE VIRTUAL TABLE users_search USING fts5 (username_key, name_key, email, content='users', content_rowid='id', tokenize='trigram case_sensitive 1');
CREATE TRIGGER users_search_added AFTER INSERT ON users BEGIN INSERT INTO users_search (rowid, username_key, name_key, email) VALUES (new.id, new.username_key, new.name_key, new.email); END;
CREATE TRIGGER users_search_dropped AFTER DELETE ON users BEGIN INSERT INTO users_search (users_search, rowid, username_key, name_key, email) VALUES ('delete', old.id, old.username_key, old.name_key, old.email); END;
CREATE TRIGGER users_search_changed AFTER UPDATE OF username_key, name_key, email ON users BEGIN INSERT INTO users_search (users_search, rowid, username_key, name_key, email) VALUES ('delete', old.id, old.username_key, old.name_key, old.email); INSERT INTO users_search (rowid, username_key, name_key, email) VALUES (new.id, new.username_key, new.name_key, new.email); END;
CREATE VIRTUAL TABLE emails_search USING fts5 (email, content='emails', content_rowid='id', tokenize='trigram case_sensitive 1');
CREATE TRIGGER emails_search_added AFTER INSERT ON emails BEGIN INSERT INTO emails_search (rowid, email) VALUES (new.id, new.email); END;
CREATE TRIGGER emails_search_dropped AFTER DELETE ON emails BEGIN INSERT INTO emails_search (emails_search, rowid, email) VALUES ('delete', old.id, old.email); END;
CREATE TRIGGER emails_search_changed AFTER UPDATE OF email ON emails BEGIN INSERT INTO emails_search (emails_search, rowid, email) VALUES ('delete', old.id, old.email); INSERT INTO emails_search (rowid, email) VALUES (new.id, new.email); END;
CREATE TABLE protected_branches (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    push_level BIGINT NOT NULL,
    merge_level BIGINT NOT NULL,
    allow_force_push BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_protected_branches_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_protected_branches_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE protected_tags (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    create_level BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_protected_tags_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_protected_tags_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE ref_intents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "key" TEXT NOT NULL,
    project_id INTEGER NOT NULL,
    actor_id INTEGER,
    via TEXT NOT NULL,
    updates TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_ref_intents_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_ref_intents_actor_id FOREIGN KEY(actor_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT uq_ref_intents_key UNIQUE ("key")
);
CREATE INDEX ix_ref_intents_project_id ON ref_intents (project_id);
CREATE TABLE ref_changes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    actor_id INTEGER,
    "key" TEXT NOT NULL,
    via TEXT NOT NULL,
    ref TEXT NOT NULL,
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_ref_changes_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_ref_changes_actor_id FOREIGN KEY(actor_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT uq_ref_changes_key_ref UNIQUE ("key", ref)
);
CREATE INDEX ix_ref_changes_project_id ON ref_changes (project_id, id);
CREATE INDEX ix_ref_changes_actor_id ON ref_changes (actor_id);
CREATE TABLE releases (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    author_id INTEGER,
    tag TEXT NOT NULL,
    name TEXT,
    description TEXT,
    created_at TEXT NOT NULL,
    released_at TEXT NOT NULL,
    CONSTRAINT fk_releases_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_releases_author_id FOREIGN KEY(author_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT uq_releases_project_id_tag UNIQUE (project_id, tag)
);
CREATE INDEX ix_releases_author_id ON releases (author_id);
CREATE INDEX ix_releases_released_at ON releases (project_id, released_at, id);
CREATE TABLE release_links (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    filepath TEXT,
    link_type TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_release_links_release_id FOREIGN KEY(release_id) REFERENCES releases (id) ON DELETE CASCADE,
    CONSTRAINT uq_release_links_release_id_name UNIQUE (release_id, name),
    CONSTRAINT uq_release_links_release_id_url UNIQUE (release_id, url),
    CONSTRAINT uq_release_links_release_id_filepath UNIQUE (release_id, filepath)
);
CREATE TABLE pipelines (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    iid BIGINT NOT NULL,
    project_id INTEGER NOT NULL,
    user_id INTEGER,
    sha TEXT NOT NULL,
    ref TEXT NOT NULL,
    tag BOOLEAN NOT NULL,
    source TEXT NOT NULL,
    status TEXT NOT NULL,
    coverage DOUBLE,
    duration BIGINT,
    yaml_errors TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    CONSTRAINT fk_pipelines_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_pipelines_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT uq_pipelines_project_id_iid UNIQUE (project_id, iid)
);
CREATE INDEX ix_pipelines_project_id ON pipelines (project_id, id);
CREATE INDEX ix_pipelines_project_id_sha ON pipelines (project_id, sha, ref, id);
CREATE INDEX ix_pipelines_project_id_ref ON pipelines (project_id, ref, id);
CREATE INDEX ix_pipelines_user_id ON pipelines (user_id);
CREATE TABLE commit_statuses (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    pipeline_id INTEGER NOT NULL,
    user_id INTEGER,
    name TEXT NOT NULL,
    stage TEXT NOT NULL,
    status TEXT NOT NULL,
    target_url TEXT,
    description TEXT,
    coverage DOUBLE,
    allow_failure BOOLEAN NOT NULL,
    retried BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    CONSTRAINT fk_commit_statuses_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (id) ON DELETE CASCADE,
    CONSTRAINT fk_commit_statuses_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX ix_commit_statuses_pipeline_id ON commit_statuses (pipeline_id, id);
CREATE INDEX ix_commit_statuses_user_id ON commit_statuses (user_id);
CREATE UNIQUE INDEX uq_commit_statuses_latest ON commit_statuses (pipeline_id, name) WHERE NOT retried;
CREATE TABLE notes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    author_id INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id BIGINT,
    commit_oid TEXT,
    discussion_id TEXT NOT NULL,
    body TEXT NOT NULL,
    system BOOLEAN NOT NULL,
    line_type TEXT,
    old_path TEXT,
    new_path TEXT,
    old_line BIGINT,
    new_line BIGINT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, type TEXT, action TEXT, internal BOOLEAN DEFAULT 0 NOT NULL, source_kind TEXT, source_id BIGINT, source_project_id BIGINT, position TEXT, original_position TEXT, resolved_at TEXT, resolved_by_id BIGINT,
    CONSTRAINT fk_notes_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_notes_author_id FOREIGN KEY(author_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_notes_author_id ON notes (author_id);
CREATE INDEX ix_notes_discussion_id ON notes (discussion_id);
CREATE INDEX ix_notes_project_id_commit_oid ON notes (project_id, commit_oid, id);
CREATE INDEX ix_notes_subject_kind_subject_id ON notes (subject_kind, subject_id, id);
CREATE TABLE deploy_key_projects (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    key_id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    creator_id INTEGER,
    can_push BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_deploy_key_projects_key_id FOREIGN KEY(key_id) REFERENCES ssh_keys (id) ON DELETE CASCADE,
    CONSTRAINT fk_deploy_key_projects_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_deploy_key_projects_creator_id FOREIGN KEY(creator_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT uq_deploy_key_projects_key_id_project_id UNIQUE (key_id, project_id)
);
CREATE INDEX ix_deploy_key_projects_project_id ON deploy_key_projects (project_id);
CREATE INDEX ix_deploy_key_projects_creator_id ON deploy_key_projects (creator_id);
CREATE TABLE lfs_objects (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    oid TEXT NOT NULL,
    size BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT uq_lfs_objects_oid UNIQUE (oid)
);
CREATE TABLE lfs_project_objects (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    object_id INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_lfs_project_objects_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_lfs_project_objects_object_id FOREIGN KEY(object_id) REFERENCES lfs_objects (id) ON DELETE RESTRICT,
    CONSTRAINT uq_lfs_project_objects_project_id_object_id UNIQUE (project_id, object_id)
);
CREATE INDEX ix_lfs_project_objects_object_id ON lfs_project_objects (object_id);
CREATE TABLE lfs_locks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    path TEXT NOT NULL,
    path_digest TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_lfs_locks_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_lfs_locks_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_lfs_locks_project_id_path_digest UNIQUE (project_id, path_digest)
);
CREATE INDEX ix_lfs_locks_project_id ON lfs_locks (project_id, id);
CREATE INDEX ix_lfs_locks_user_id ON lfs_locks (user_id);
CREATE TABLE internal_ids (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    last BIGINT NOT NULL,
    CONSTRAINT uq_internal_ids_scope_scope_id_kind UNIQUE (scope, scope_id, kind)
);
CREATE TABLE labels (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    group_id INTEGER,
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    color TEXT NOT NULL,
    description TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_labels_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_labels_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_labels_group_id_title UNIQUE (group_id, title),
    CONSTRAINT uq_labels_project_id_title UNIQUE (project_id, title)
);
CREATE INDEX ix_labels_title ON labels (title);
CREATE TABLE label_links (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    label_id INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id BIGINT NOT NULL,
    project_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    confidential BOOLEAN NOT NULL,
    CONSTRAINT fk_label_links_label_id FOREIGN KEY(label_id) REFERENCES labels (id) ON DELETE CASCADE,
    CONSTRAINT fk_label_links_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_label_links_subject_kind_subject_id_label_id UNIQUE (subject_kind, subject_id, label_id)
);
CREATE INDEX ix_label_links_label_id ON label_links (label_id, subject_kind, project_id, state, confidential, subject_id);
CREATE INDEX ix_label_links_project_id ON label_links (project_id);
CREATE TABLE label_priorities (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    label_id INTEGER NOT NULL,
    priority BIGINT NOT NULL,
    CONSTRAINT fk_label_priorities_label_id FOREIGN KEY(label_id) REFERENCES labels (id) ON DELETE CASCADE,
    CONSTRAINT fk_label_priorities_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_label_priorities_project_id_label_id UNIQUE (project_id, label_id)
);
CREATE INDEX ix_label_priorities_label_id ON label_priorities (label_id);
CREATE TABLE milestones (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    group_id INTEGER,
    iid BIGINT NOT NULL,
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL,
    due_date TEXT,
    start_date TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    description_key TEXT NOT NULL,
    CONSTRAINT fk_milestones_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_milestones_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_milestones_group_id_iid UNIQUE (group_id, iid),
    CONSTRAINT uq_milestones_group_id_title UNIQUE (group_id, title),
    CONSTRAINT uq_milestones_project_id_iid UNIQUE (project_id, iid),
    CONSTRAINT uq_milestones_project_id_title UNIQUE (project_id, title)
);
CREATE INDEX ix_milestones_title ON milestones (title);
CREATE TABLE follows (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id BIGINT NOT NULL,
    following BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_follows_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_follows_user_id_subject_kind_subject_id UNIQUE (user_id, subject_kind, subject_id)
);
CREATE INDEX ix_follows_subject_kind_subject_id ON follows (subject_kind, subject_id);
CREATE TABLE issues (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    iid BIGINT NOT NULL,
    author_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL,
    confidential BOOLEAN NOT NULL,
    milestone_id INTEGER,
    due_date TEXT,
    user_notes_count BIGINT NOT NULL,
    upvotes BIGINT NOT NULL,
    downvotes BIGINT NOT NULL,
    time_estimate BIGINT NOT NULL,
    total_time_spent BIGINT NOT NULL,
    moved_to_id INTEGER,
    closed_by_id INTEGER,
    closed_at TEXT,
    discussion_locked BOOLEAN NOT NULL,
    position BIGINT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    deleted_at TEXT,
    title_key TEXT NOT NULL,
    description_key TEXT NOT NULL,
    CONSTRAINT fk_issues_author_id FOREIGN KEY(author_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_issues_closed_by_id FOREIGN KEY(closed_by_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_issues_milestone_id FOREIGN KEY(milestone_id) REFERENCES milestones (id) ON DELETE SET NULL,
    CONSTRAINT fk_issues_moved_to_id FOREIGN KEY(moved_to_id) REFERENCES issues (id) ON DELETE SET NULL,
    CONSTRAINT fk_issues_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_issues_project_id_iid UNIQUE (project_id, iid)
);
CREATE INDEX ix_issues_author_id ON issues (author_id);
CREATE INDEX ix_issues_milestone_id ON issues (milestone_id, state, project_id, created_at, id, deleted_at);
CREATE INDEX ix_issues_project_id_id ON issues (project_id, id);
CREATE INDEX ix_issues_project_id_created_at ON issues (project_id, created_at, id, state, confidential, deleted_at);
CREATE INDEX ix_issues_project_id_updated_at ON issues (project_id, updated_at, id, state, confidential, deleted_at);
CREATE TABLE issue_assignees (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    issue_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    CONSTRAINT fk_issue_assignees_issue_id FOREIGN KEY(issue_id) REFERENCES issues (id) ON DELETE CASCADE,
    CONSTRAINT fk_issue_assignees_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_issue_assignees_issue_id_user_id UNIQUE (issue_id, user_id)
);
CREATE INDEX ix_issue_assignees_user_id ON issue_assignees (user_id, issue_id);
CREATE TABLE issue_counts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    confidential BOOLEAN NOT NULL,
    count BIGINT NOT NULL,
    CONSTRAINT fk_issue_counts_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_issue_counts_project_id_state_confidential UNIQUE (project_id, state, confidential)
);
CREATE TABLE issue_origins (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    issue_id INTEGER NOT NULL,
    user_agent TEXT NOT NULL,
    ip_address TEXT NOT NULL,
    submitted BOOLEAN NOT NULL,
    CONSTRAINT fk_issue_origins_issue_id FOREIGN KEY(issue_id) REFERENCES issues (id) ON DELETE CASCADE,
    CONSTRAINT uq_issue_origins_issue_id UNIQUE (issue_id)
);
CREATE TABLE issue_links (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    link_type TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_issue_links_source_id FOREIGN KEY(source_id) REFERENCES issues (id) ON DELETE CASCADE,
    CONSTRAINT fk_issue_links_target_id FOREIGN KEY(target_id) REFERENCES issues (id) ON DELETE CASCADE,
    CONSTRAINT uq_issue_links_source_id_target_id UNIQUE (source_id, target_id)
);
CREATE INDEX ix_issue_links_target_id ON issue_links (target_id);
CREATE INDEX ix_notes_source_kind_source_id ON notes (source_kind, source_id);
CREATE TABLE award_emoji (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    subject_kind TEXT NOT NULL,
    subject_id BIGINT NOT NULL,
    user_id INTEGER NOT NULL,
    former_user_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_award_emoji_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_award_emoji_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_award_emoji_once UNIQUE (subject_kind, subject_id, user_id, name, former_user_id)
);
CREATE INDEX ix_award_emoji_project_id ON award_emoji (project_id);
CREATE INDEX ix_award_emoji_user_id ON award_emoji (user_id, subject_kind, name, subject_id);
CREATE TABLE resource_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    subject_kind TEXT NOT NULL,
    subject_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    action TEXT NOT NULL,
    label_id INTEGER,
    milestone_id INTEGER,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_resource_events_label_id FOREIGN KEY(label_id) REFERENCES labels (id) ON DELETE SET NULL,
    CONSTRAINT fk_resource_events_milestone_id FOREIGN KEY(milestone_id) REFERENCES milestones (id) ON DELETE SET NULL,
    CONSTRAINT fk_resource_events_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_resource_events_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_resource_events_label_id ON resource_events (label_id);
CREATE INDEX ix_resource_events_milestone_id ON resource_events (milestone_id);
CREATE INDEX ix_resource_events_project_id ON resource_events (project_id);
CREATE INDEX ix_resource_events_subject_kind_subject_id ON resource_events (subject_kind, subject_id, kind, id);
CREATE INDEX ix_resource_events_user_id ON resource_events (user_id);
CREATE TABLE boards (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    group_id INTEGER,
    name TEXT NOT NULL,
    hide_backlog_list BOOLEAN NOT NULL,
    hide_closed_list BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_boards_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_boards_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX ix_boards_group_id ON boards (group_id);
CREATE INDEX ix_boards_project_id ON boards (project_id);
CREATE TABLE board_lists (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    board_id INTEGER NOT NULL,
    label_id INTEGER NOT NULL,
    position BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_board_lists_board_id FOREIGN KEY(board_id) REFERENCES boards (id) ON DELETE CASCADE,
    CONSTRAINT fk_board_lists_label_id FOREIGN KEY(label_id) REFERENCES labels (id) ON DELETE CASCADE,
    CONSTRAINT uq_board_lists_board_id_label_id UNIQUE (board_id, label_id)
);
CREATE INDEX ix_board_lists_label_id ON board_lists (label_id);
CREATE TABLE project_wikis (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    repository_key TEXT NOT NULL,
    CONSTRAINT fk_project_wikis_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_project_wikis_project_id UNIQUE (project_id),
    CONSTRAINT uq_project_wikis_repository_key UNIQUE (repository_key)
);
CREATE TABLE snippets (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER,
    author_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    visibility TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    ip_address TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_snippets_author_id FOREIGN KEY(author_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_snippets_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX ix_snippets_author_id ON snippets (author_id, id);
CREATE INDEX ix_snippets_project_id ON snippets (project_id, id);
CREATE INDEX ix_snippets_visibility ON snippets (visibility, project_id, id);
CREATE TABLE snippet_files (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    snippet_id INTEGER NOT NULL,
    path TEXT NOT NULL,
    content TEXT NOT NULL,
    CONSTRAINT fk_snippet_files_snippet_id FOREIGN KEY(snippet_id) REFERENCES snippets (id) ON DELETE CASCADE,
    CONSTRAINT uq_snippet_files_snippet_id_path UNIQUE (snippet_id, path)
);
CREATE VIRTUAL TABLE issues_search USING fts5 (title_key, description_key, content='issues', content_rowid='id', tokenize='trigram case_sensitive 1');
CREATE TRIGGER issues_search_added AFTER INSERT ON issues BEGIN INSERT INTO issues_search (rowid, title_key, description_key) VALUES (new.id, new.title_key, new.description_key); END;
CREATE TRIGGER issues_search_dropped AFTER DELETE ON issues BEGIN INSERT INTO issues_search (issues_search, rowid, title_key, description_key) VALUES ('delete', old.id, old.title_key, old.description_key); END;
CREATE TRIGGER issues_search_changed AFTER UPDATE OF title_key, description_key ON issues BEGIN INSERT INTO issues_search (issues_search, rowid, title_key, description_key) VALUES ('delete', old.id, old.title_key, old.description_key); INSERT INTO issues_search (rowid, title_key, description_key) VALUES (new.id, new.title_key, new.description_key); END;
CREATE TABLE mentioned_people (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subject_kind TEXT NOT NULL,
    subject_id BIGINT NOT NULL,
    note_id INTEGER,
    user_id INTEGER NOT NULL,
    internal BOOLEAN NOT NULL,
    CONSTRAINT fk_mentioned_people_note_id FOREIGN KEY(note_id) REFERENCES notes (id) ON DELETE CASCADE,
    CONSTRAINT fk_mentioned_people_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_mentioned_people_note_id ON mentioned_people (note_id);
CREATE INDEX ix_mentioned_people_user_id ON mentioned_people (user_id);
CREATE INDEX ix_mentioned_people_subject_kind_subject_id ON mentioned_people (subject_kind, subject_id, user_id);
CREATE TABLE todos (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    author_id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id BIGINT NOT NULL,
    note_id INTEGER,
    action TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_todos_author_id FOREIGN KEY(author_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_todos_note_id FOREIGN KEY(note_id) REFERENCES notes (id) ON DELETE CASCADE,
    CONSTRAINT fk_todos_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_todos_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_todos_author_id ON todos (author_id);
CREATE INDEX ix_todos_note_id ON todos (note_id);
CREATE INDEX ix_todos_project_id ON todos (project_id);
CREATE INDEX ix_todos_user_id_state ON todos (user_id, state, id);
CREATE INDEX ix_todos_subject_kind_subject_id ON todos (subject_kind, subject_id);
CREATE UNIQUE INDEX uq_todos_pending ON todos (user_id, subject_kind, subject_id) WHERE state = 'pending';
CREATE TABLE events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    author_id INTEGER NOT NULL,
    action TEXT NOT NULL,
    target_kind TEXT,
    target_id BIGINT,
    subject_kind TEXT,
    subject_id BIGINT,
    push TEXT,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_events_author_id FOREIGN KEY(author_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_events_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX ix_events_project_id ON events (project_id, id);
CREATE INDEX ix_events_author_id ON events (author_id, id);
CREATE INDEX ix_events_target_kind_target_id ON events (target_kind, target_id);
CREATE TABLE notification_settings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    source_kind TEXT NOT NULL,
    source_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    events TEXT NOT NULL,
    email TEXT,
    CONSTRAINT fk_notification_settings_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_notification_settings_user_id_source_kind_source_id UNIQUE (user_id, source_kind, source_id)
);
CREATE INDEX ix_notification_settings_source_kind_source_id ON notification_settings (source_kind, source_id, level);
CREATE INDEX ix_issues_created_at ON issues (created_at, id, project_id, state, confidential, deleted_at);
CREATE INDEX ix_issues_updated_at ON issues (updated_at, id, project_id, state, confidential, deleted_at);
CREATE INDEX ix_issues_author_id_created_at ON issues (author_id, created_at, id, project_id, state, deleted_at);
CREATE INDEX ix_issues_author_id_updated_at ON issues (author_id, updated_at, id, project_id, state, deleted_at);
CREATE INDEX ix_issues_confidential ON issues (confidential, author_id, project_id) WHERE confidential IS 1;
CREATE INDEX ix_milestones_due_date ON milestones (due_date, id, project_id, group_id);
CREATE VIRTUAL TABLE notes_search USING fts5 (body, content='notes', content_rowid='id', tokenize='trigram');
CREATE TRIGGER notes_search_added AFTER INSERT ON notes BEGIN INSERT INTO notes_search (rowid, body) VALUES (new.id, new.body); END;
CREATE TRIGGER notes_search_dropped AFTER DELETE ON notes BEGIN INSERT INTO notes_search (notes_search, rowid, body) VALUES ('delete', old.id, old.body); END;
CREATE TRIGGER notes_search_changed AFTER UPDATE OF body ON notes BEGIN INSERT INTO notes_search (notes_search, rowid, body) VALUES ('delete', old.id, old.body); INSERT INTO notes_search (rowid, body) VALUES (new.id, new.body); END;
CREATE VIRTUAL TABLE snippets_search USING fts5 (title, description, content='snippets', content_rowid='id', tokenize='trigram');
CREATE TRIGGER snippets_search_added AFTER INSERT ON snippets BEGIN INSERT INTO snippets_search (rowid, title, description) VALUES (new.id, new.title, new.description); END;
CREATE TRIGGER snippets_search_dropped AFTER DELETE ON snippets BEGIN INSERT INTO snippets_search (snippets_search, rowid, title, description) VALUES ('delete', old.id, old.title, old.description); END;
CREATE TRIGGER snippets_search_changed AFTER UPDATE OF title, description ON snippets BEGIN INSERT INTO snippets_search (snippets_search, rowid, title, description) VALUES ('delete', old.id, old.title, old.description); INSERT INTO snippets_search (rowid, title, description) VALUES (new.id, new.title, new.description); END;
CREATE VIRTUAL TABLE snippet_files_search USING fts5 (path, content, content='snippet_files', content_rowid='id', tokenize='trigram');
CREATE TRIGGER snippet_files_search_added AFTER INSERT ON snippet_files BEGIN INSERT INTO snippet_files_search (rowid, path, content) VALUES (new.id, new.path, new.content); END;
CREATE TRIGGER snippet_files_search_dropped AFTER DELETE ON snippet_files BEGIN INSERT INTO snippet_files_search (snippet_files_search, rowid, path, content) VALUES ('delete', old.id, old.path, old.content); END;
CREATE TRIGGER snippet_files_search_changed AFTER UPDATE OF path, content ON snippet_files BEGIN INSERT INTO snippet_files_search (snippet_files_search, rowid, path, content) VALUES ('delete', old.id, old.path, old.content); INSERT INTO snippet_files_search (rowid, path, content) VALUES (new.id, new.path, new.content); END;
CREATE TABLE merge_request_counts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    count BIGINT NOT NULL,
    CONSTRAINT fk_merge_request_counts_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_merge_request_counts_project_id_state UNIQUE (project_id, state)
);
CREATE TABLE merge_requests (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    iid BIGINT NOT NULL,
    target_project_id INTEGER NOT NULL,
    source_project_id INTEGER,
    source_branch TEXT NOT NULL,
    target_branch TEXT NOT NULL,
    author_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL,
    milestone_id INTEGER,
    merge_when_pipeline_succeeds BOOLEAN NOT NULL,
    merge_user_id INTEGER,
    merge_params TEXT,
    squash BOOLEAN NOT NULL,
    remove_source_branch BOOLEAN NOT NULL,
    head_oid TEXT NOT NULL,
    merge_commit_oid TEXT,
    squash_commit_oid TEXT,
    merged_at TEXT,
    merged_by_id INTEGER,
    closed_at TEXT,
    closed_by_id INTEGER,
    merge_error TEXT,
    verdict_source_oid TEXT,
    verdict_target_oid TEXT,
    verdict TEXT,
    user_notes_count BIGINT NOT NULL,
    upvotes BIGINT NOT NULL,
    downvotes BIGINT NOT NULL,
    time_estimate BIGINT NOT NULL,
    total_time_spent BIGINT NOT NULL,
    discussion_locked BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    deleted_at TEXT,
    title_key TEXT NOT NULL,
    description_key TEXT NOT NULL,
    CONSTRAINT fk_merge_requests_author_id FOREIGN KEY(author_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_merge_requests_closed_by_id FOREIGN KEY(closed_by_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_merge_requests_merge_user_id FOREIGN KEY(merge_user_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_merge_requests_merged_by_id FOREIGN KEY(merged_by_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_merge_requests_milestone_id FOREIGN KEY(milestone_id) REFERENCES milestones (id) ON DELETE SET NULL,
    CONSTRAINT fk_merge_requests_source_project_id FOREIGN KEY(source_project_id) REFERENCES projects (id) ON DELETE SET NULL,
    CONSTRAINT fk_merge_requests_target_project_id FOREIGN KEY(target_project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_merge_requests_target_project_id_iid UNIQUE (target_project_id, iid)
);
CREATE INDEX ix_merge_requests_author_id ON merge_requests (author_id);
CREATE INDEX ix_merge_requests_created_at ON merge_requests (target_project_id, created_at, id, state, deleted_at);
CREATE INDEX ix_merge_requests_merge_commit_oid ON merge_requests (target_project_id, merge_commit_oid);
CREATE INDEX ix_merge_requests_milestone_id ON merge_requests (milestone_id, state, target_project_id, created_at, id);
CREATE INDEX ix_merge_requests_open_target ON merge_requests (target_project_id, target_branch, head_oid) WHERE state = 'opened' AND deleted_at IS NULL;
CREATE INDEX ix_merge_requests_source_project_id ON merge_requests (source_project_id, source_branch);
CREATE INDEX ix_merge_requests_state ON merge_requests (target_project_id, state, created_at, id, deleted_at);
CREATE INDEX ix_merge_requests_target_project_id_id ON merge_requests (target_project_id, id);
CREATE INDEX ix_merge_requests_updated_at ON merge_requests (target_project_id, updated_at, id, state, deleted_at);
CREATE UNIQUE INDEX uq_merge_requests_open ON merge_requests (source_project_id, source_branch, target_project_id, target_branch) WHERE state = 'opened' AND deleted_at IS NULL;
CREATE TABLE merge_request_approvals (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    merge_request_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_merge_request_approvals_merge_request_id FOREIGN KEY(merge_request_id) REFERENCES merge_requests (id) ON DELETE CASCADE,
    CONSTRAINT fk_merge_request_approvals_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_merge_request_approvals_merge_request_id_user_id UNIQUE (merge_request_id, user_id)
);
CREATE INDEX ix_merge_request_approvals_user_id ON merge_request_approvals (user_id);
CREATE TABLE merge_request_assignees (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    merge_request_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    CONSTRAINT fk_merge_request_assignees_merge_request_id FOREIGN KEY(merge_request_id) REFERENCES merge_requests (id) ON DELETE CASCADE,
    CONSTRAINT fk_merge_request_assignees_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_merge_request_assignees_merge_request_id_user_id UNIQUE (merge_request_id, user_id)
);
CREATE INDEX ix_merge_request_assignees_user_id ON merge_request_assignees (user_id, merge_request_id);
CREATE TABLE merge_request_closings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    merge_request_id INTEGER NOT NULL,
    issue_id INTEGER NOT NULL,
    by_commits BOOLEAN NOT NULL,
    CONSTRAINT fk_merge_request_closings_issue_id FOREIGN KEY(issue_id) REFERENCES issues (id) ON DELETE CASCADE,
    CONSTRAINT fk_merge_request_closings_merge_request_id FOREIGN KEY(merge_request_id) REFERENCES merge_requests (id) ON DELETE CASCADE,
    CONSTRAINT uq_merge_request_closings_merge_request_id_issue_id_by_commits UNIQUE (merge_request_id, issue_id, by_commits)
);
CREATE INDEX ix_merge_request_closings_issue_id ON merge_request_closings (issue_id, merge_request_id);
CREATE TABLE merge_request_merges (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    merge_request_id INTEGER NOT NULL,
    actor_id INTEGER,
    method TEXT NOT NULL,
    source_oid TEXT NOT NULL,
    target_oid TEXT NOT NULL,
    new_oid TEXT NOT NULL,
    merge_commit_oid TEXT,
    squash_commit_oid TEXT,
    remove_source_branch BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_merge_request_merges_actor_id FOREIGN KEY(actor_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_merge_request_merges_merge_request_id FOREIGN KEY(merge_request_id) REFERENCES merge_requests (id) ON DELETE CASCADE
);
CREATE INDEX ix_merge_request_merges_actor_id ON merge_request_merges (actor_id);
CREATE INDEX ix_merge_request_merges_merge_request_id ON merge_request_merges (merge_request_id);
CREATE INDEX ix_merge_request_merges_new_oid ON merge_request_merges (new_oid);
CREATE TABLE merge_request_reviewers (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    merge_request_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    CONSTRAINT fk_merge_request_reviewers_merge_request_id FOREIGN KEY(merge_request_id) REFERENCES merge_requests (id) ON DELETE CASCADE,
    CONSTRAINT fk_merge_request_reviewers_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_merge_request_reviewers_merge_request_id_user_id UNIQUE (merge_request_id, user_id)
);
CREATE INDEX ix_merge_request_reviewers_user_id ON merge_request_reviewers (user_id, merge_request_id);
CREATE TABLE merge_request_versions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    merge_request_id INTEGER NOT NULL,
    head_oid TEXT NOT NULL,
    base_oid TEXT,
    start_oid TEXT,
    state TEXT NOT NULL,
    commits_count BIGINT,
    files_count TEXT,
    pushed_by_id INTEGER,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_merge_request_versions_merge_request_id FOREIGN KEY(merge_request_id) REFERENCES merge_requests (id) ON DELETE CASCADE,
    CONSTRAINT fk_merge_request_versions_pushed_by_id FOREIGN KEY(pushed_by_id) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX ix_merge_request_versions_merge_request_id ON merge_request_versions (merge_request_id, id);
CREATE INDEX ix_merge_request_versions_pushed_by_id ON merge_request_versions (pushed_by_id);
CREATE VIRTUAL TABLE merge_requests_search USING fts5 (title_key, description_key, content='merge_requests', content_rowid='id', tokenize='trigram case_sensitive 1');
CREATE TRIGGER merge_requests_search_added AFTER INSERT ON merge_requests BEGIN INSERT INTO merge_requests_search (rowid, title_key, description_key) VALUES (new.id, new.title_key, new.description_key); END;
CREATE TRIGGER merge_requests_search_dropped AFTER DELETE ON merge_requests BEGIN INSERT INTO merge_requests_search (merge_requests_search, rowid, title_key, description_key) VALUES ('delete', old.id, old.title_key, old.description_key); END;
CREATE TRIGGER merge_requests_search_changed AFTER UPDATE OF title_key, description_key ON merge_requests BEGIN INSERT INTO merge_requests_search (merge_requests_search, rowid, title_key, description_key) VALUES ('delete', old.id, old.title_key, old.description_key); INSERT INTO merge_requests_search (rowid, title_key, description_key) VALUES (new.id, new.title_key, new.description_key); END;
CREATE TABLE hook_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    payload TEXT NOT NULL,
    unfinished TEXT,
    created_at TEXT NOT NULL
);
CREATE INDEX ix_hook_events_created_at ON hook_events (created_at);
CREATE TABLE hooks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    project_id INTEGER,
    group_id INTEGER,
    url TEXT NOT NULL,
    credentials BLOB,
    token BLOB,
    signing_token BLOB,
    custom_headers BLOB,
    name TEXT,
    description TEXT,
    enable_ssl_verification BOOLEAN NOT NULL,
    push_events_branch_filter TEXT,
    branch_filter_strategy TEXT NOT NULL,
    push_events BOOLEAN NOT NULL,
    tag_push_events BOOLEAN NOT NULL,
    issues_events BOOLEAN NOT NULL,
    confidential_issues_events BOOLEAN NOT NULL,
    merge_requests_events BOOLEAN NOT NULL,
    note_events BOOLEAN NOT NULL,
    confidential_note_events BOOLEAN NOT NULL,
    job_events BOOLEAN NOT NULL,
    pipeline_events BOOLEAN NOT NULL,
    wiki_page_events BOOLEAN NOT NULL,
    releases_events BOOLEAN NOT NULL,
    repository_update_events BOOLEAN NOT NULL,
    failures BIGINT NOT NULL,
    disabled_until TEXT,
    lease TEXT,
    leased_until TEXT,
    created_at TEXT NOT NULL, service_id INTEGER CONSTRAINT fk_hooks_service_id REFERENCES services (id) ON DELETE CASCADE, outfit BLOB, url_variables BLOB,
    CONSTRAINT fk_hooks_group_id FOREIGN KEY(group_id) REFERENCES namespaces (id) ON DELETE CASCADE,
    CONSTRAINT fk_hooks_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX ix_hooks_group_id ON hooks (group_id);
CREATE INDEX ix_hooks_project_id ON hooks (project_id);
CREATE INDEX ix_hooks_system ON hooks (kind) WHERE kind = 'system';
CREATE TABLE hook_deliveries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    event_id INTEGER NOT NULL,
    hook_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at TEXT NOT NULL,
    placed_at TEXT NOT NULL,
    CONSTRAINT fk_hook_deliveries_event_id FOREIGN KEY(event_id) REFERENCES hook_events (id) ON DELETE CASCADE,
    CONSTRAINT fk_hook_deliveries_hook_id FOREIGN KEY(hook_id) REFERENCES hooks (id) ON DELETE CASCADE
);
CREATE INDEX ix_hook_deliveries_event_id ON hook_deliveries (event_id);
CREATE INDEX ix_hook_deliveries_hook_id ON hook_deliveries (hook_id, id);
CREATE INDEX ix_hook_deliveries_waiting_due ON hook_deliveries (hook_id, due_at) WHERE state = 'waiting';
CREATE INDEX ix_hook_deliveries_waiting_tried ON hook_deliveries (hook_id, attempts, id) WHERE state = 'waiting';
CREATE TABLE hook_attempts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    delivery_id INTEGER NOT NULL,
    hook_id INTEGER NOT NULL,
    attempt BIGINT NOT NULL,
    url TEXT NOT NULL,
    request_headers TEXT NOT NULL,
    status BIGINT,
    response_headers TEXT NOT NULL,
    response_body TEXT NOT NULL,
    seconds DOUBLE NOT NULL,
    error TEXT,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_hook_attempts_delivery_id FOREIGN KEY(delivery_id) REFERENCES hook_deliveries (id) ON DELETE CASCADE,
    CONSTRAINT fk_hook_attempts_hook_id FOREIGN KEY(hook_id) REFERENCES hooks (id) ON DELETE CASCADE
);
CREATE INDEX ix_hook_attempts_delivery_id ON hook_attempts (delivery_id);
CREATE INDEX ix_hook_attempts_hook_id ON hook_attempts (hook_id, id);
CREATE TABLE services (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    slug TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    events TEXT NOT NULL,
    properties TEXT NOT NULL,
    secrets BLOB,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_services_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_services_project_id_slug UNIQUE (project_id, slug)
);
CREATE UNIQUE INDEX ix_hooks_service_id ON hooks (service_id);
CREATE TABLE merge_request_commits (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    merge_request_id INTEGER NOT NULL,
    version_id INTEGER NOT NULL,
    oid TEXT NOT NULL,
    CONSTRAINT fk_merge_request_commits_merge_request_id FOREIGN KEY(merge_request_id) REFERENCES merge_requests (id) ON DELETE CASCADE,
    CONSTRAINT fk_merge_request_commits_version_id FOREIGN KEY(version_id) REFERENCES merge_request_versions (id) ON DELETE CASCADE,
    CONSTRAINT uq_merge_request_commits_merge_request_id_oid UNIQUE (merge_request_id, oid)
);
CREATE INDEX ix_merge_request_commits_oid ON merge_request_commits (oid, merge_request_id);
CREATE INDEX ix_merge_request_commits_version_id ON merge_request_commits (version_id);
CREATE TABLE oauth_applications (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    owner_id INTEGER,
    uid TEXT NOT NULL,
    secret_digest BLOB NOT NULL,
    name TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    confidential BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT fk_oauth_applications_owner_id FOREIGN KEY(owner_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_oauth_applications_uid UNIQUE (uid)
);
CREATE INDEX ix_oauth_applications_owner_id ON oauth_applications (owner_id);
CREATE TABLE oauth_codes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    application_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    family TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    code_challenge TEXT,
    code_challenge_method TEXT,
    nonce TEXT,
    signed_in_at TEXT NOT NULL,
    used BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    CONSTRAINT fk_oauth_codes_application_id FOREIGN KEY(application_id) REFERENCES oauth_applications (id) ON DELETE CASCADE,
    CONSTRAINT fk_oauth_codes_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_oauth_codes_digest UNIQUE (digest)
);
CREATE INDEX ix_oauth_codes_application_id ON oauth_codes (application_id);
CREATE INDEX ix_oauth_codes_user_id ON oauth_codes (user_id);
CREATE INDEX ix_oauth_codes_expires_at ON oauth_codes (expires_at);
CREATE TABLE oauth_tokens (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    access_token_id INTEGER NOT NULL,
    application_id INTEGER,
    user_id INTEGER NOT NULL,
    family TEXT NOT NULL,
    refresh_digest BLOB,
    CONSTRAINT fk_oauth_tokens_access_token_id FOREIGN KEY(access_token_id) REFERENCES access_tokens (id) ON DELETE CASCADE,
    CONSTRAINT fk_oauth_tokens_application_id FOREIGN KEY(application_id) REFERENCES oauth_applications (id) ON DELETE CASCADE,
    CONSTRAINT fk_oauth_tokens_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_oauth_tokens_access_token_id UNIQUE (access_token_id),
    CONSTRAINT uq_oauth_tokens_refresh_digest UNIQUE (refresh_digest)
);
CREATE INDEX ix_oauth_tokens_family ON oauth_tokens (family);
CREATE INDEX ix_oauth_tokens_application_id_user_id ON oauth_tokens (application_id, user_id);
CREATE INDEX ix_oauth_tokens_user_id ON oauth_tokens (user_id);
CREATE TABLE second_factors (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    enabled BOOLEAN NOT NULL,
    last_step BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_second_factors_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_second_factors_user_id UNIQUE (user_id)
);
CREATE TABLE recovery_codes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    CONSTRAINT fk_recovery_codes_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_recovery_codes_digest UNIQUE (digest)
);
CREATE INDEX ix_recovery_codes_user_id ON recovery_codes (user_id);
CREATE TABLE sign_ins (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    method TEXT NOT NULL,
    succeeded BOOLEAN NOT NULL,
    ip TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT fk_sign_ins_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_sign_ins_created_at ON sign_ins (created_at);
CREATE INDEX ix_sign_ins_user_id_id ON sign_ins (user_id, id);
CREATE TABLE release_milestones (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_id INTEGER NOT NULL,
    milestone_id INTEGER NOT NULL,
    CONSTRAINT fk_release_milestones_release_id FOREIGN KEY(release_id) REFERENCES releases (id) ON DELETE CASCADE,
    CONSTRAINT fk_release_milestones_milestone_id FOREIGN KEY(milestone_id) REFERENCES milestones (id) ON DELETE CASCADE,
    CONSTRAINT uq_release_milestones_release_id_milestone_id UNIQUE (release_id, milestone_id)
);
CREATE INDEX ix_release_milestones_milestone_id ON release_milestones (milestone_id);
INSERT INTO alembic_version (version_num) VALUES ('0017');
