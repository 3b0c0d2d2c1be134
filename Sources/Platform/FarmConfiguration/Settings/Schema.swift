/// All keys of the configuration. File, environment and flags are checked against them.
indirect enum Shape: Sendable {
    case value
    /// Several plain values; in the environment and in flags they are separated by spaces.
    case list
    /// Fixed keys.
    case group([(key: String, shape: Shape)])
    /// Any names, each with the same shape.
    case named(Shape)
}

enum Schema {
    static let apps = SettingPath("apps")
    static let redis = SettingPath("redis")
    /// Keys that belong to the address in ``redis``.
    static let ofRedis = [SettingPath("redis_ca_file"), SettingPath("redis_password_file")]

    static let root = Shape.group([
        ("redis", .value), ("redis_ca_file", .value), ("redis_password_file", .value),
        ("state_dir", .value), ("workers", .value), ("shards", .value), ("host", .value),
        ("program", .value),
        ("job_records_kept", .value), ("job_record_hours", .value),
        ("log", .group([("level", .value), ("format", .value), ("file", .value)])),
        ("metrics", .group([("listen", .value)])),
        (
            "alerts",
            .group([
                ("backlog_age", .value), ("error_share", .value), ("redis_memory", .value),
                ("refused_jobs", .value),
                ("repeat", .value), ("command", .value), ("webhook", .value),
            ])
        ),
        ("apps", .named(app)),
    ])

    static let app = Shape.group([
        ("topic", .value), ("topics", .list), ("environment", .value), ("gateway", .value), ("proxy", .value),
        ("feedback", .value), ("feedback_interval", .value), ("ca_file", .value),
        ("request_timeout", .value), ("max_retry_after", .value), ("max_job_bytes", .value),
        ("max_tokens", .value),
        (
            "suppression",
            .group([("days", .value), ("tokens", .value), ("hold_share", .value), ("pause_share", .value)])
        ),
        ("dead_letters", .group([("pushes", .value), ("megabytes", .value), ("days", .value)])),
        ("audit", .group([("hours", .value), ("megabytes", .value)])),
        ("max_backlog", .value), ("max_inbox", .value), ("max_inbox_bytes", .value), ("connections", .value),
        ("weight", .value), ("bulk_floor", .value),
        ("min_conns", .value), ("max_conns", .value), ("max_concurrent_streams", .value),
        ("max_rate", .value), ("max_bandwidth", .value), ("scale", .value), ("min_sustain", .value),
        ("poll_interval", .value), ("settle_period", .value), ("dial_timeout", .value),
        ("min_dial_back_off", .value), ("max_dial_back_off", .value), ("dial_back_off_jitter", .value),
        ("keep_alive", .value),
        ("budget", .group([("max_rate", .value), ("max_bandwidth", .value), ("max_conns", .value)])),
        ("key", .group([("file", .value), ("id", .value), ("team", .value)])),
        (
            "binary",
            .group([
                ("command", .value), ("quiet_time", .value), ("sentinel", .value), ("key_updates", .value),
                ("window", .value), ("max_dials", .value),
            ])
        ),
        (
            "certificate",
            .group([
                ("file", .value), ("key_file", .value), ("password_env", .value), ("password_file", .value),
            ])
        ),
    ])

    /// Paths of all plain values below `shape` that need no name.
    static func values(of shape: Shape) -> [SettingPath] {
        guard case .group(let entries) = shape else { return [] }
        return entries.flatMap { entry -> [SettingPath] in
            switch entry.shape {
            case .value, .list: [SettingPath(entry.key)]
            case .group: values(of: entry.shape).map { SettingPath(parts: [entry.key] + $0.parts) }
            case .named: []
            }
        }
    }
}
