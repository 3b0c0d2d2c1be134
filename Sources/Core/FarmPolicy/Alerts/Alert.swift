/// A problem that an operator should know about.
package struct Alert: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case appPaused = "app_paused"
        case workerCrashLoop = "worker_crash_loop"
        case leaseLost = "lease_lost"
        case backlogAge = "backlog_age"
        case errorShare = "error_share"
        case redisFull = "redis_full"
        case credentialExpiring = "credential_expiring"
        case hostGone = "host_gone"
        /// A key in Redis has the wrong type, so the app cannot send.
        case keyType = "key_type"
        /// Data that workers or producers wrote to Redis cannot be read.
        case unreadable = "unreadable"
        case refusedJobs = "refused_jobs"
        case strayInbox = "stray_inbox"
        /// The gateway rejects many tokens as invalid. While this alert is active, a rejected token is suppressed only after it
        /// is confirmed as invalid.
        case badTokens = "bad_tokens"
        case gatewayStalled = "gateway_stalled"
        /// Too many of a campaign's last pushes failed, so the farm paused the campaign.
        case campaignPaused = "campaign_paused"
        /// The remaining pushes of a campaign do not fit into its window at the present rate.
        case campaignLate = "campaign_late"
        /// The Redis with the app's stored devices does not reply, so all work that needs stored devices waits.
        case registryUnreachable = "registry_unreachable"

        /// How long the condition must be absent before the alert clears.
        package var clearsAfter: Duration {
            switch self {
            case .appPaused, .credentialExpiring, .hostGone, .keyType, .unreadable, .strayInbox, .badTokens,
                .campaignPaused:
                .zero
            case .backlogAge, .redisFull, .refusedJobs, .gatewayStalled, .campaignLate, .registryUnreachable:
                .seconds(10)
            case .errorShare, .workerCrashLoop, .leaseLost: .seconds(30)
            }
        }
    }

    /// Who reports the alert: the host that has the app's intake, every host for itself, or one host for the
    /// farm.
    package enum Scope: Hashable, Sendable {
        case app(String)
        case host(String)
        case farm
    }

    package let kind: Kind
    package let scope: Scope
    /// Distinguishes alerts of one kind, for example by a worker's name. Contains no spaces.
    package let subject: String

    package init(_ kind: Kind, _ scope: Scope, subject: String = "") {
        (self.kind, self.scope, self.subject) = (kind, scope, subject)
    }
}

extension Alert {
    /// An identifier that is unique in the farm: "kind app NAME subject".
    package var id: String {
        let scope =
            switch scope {
            case .app(let name): "app \(name)"
            case .host(let name): "host \(name)"
            case .farm: "farm "
            }
        return "\(kind.rawValue) \(scope) \(subject)"
    }

    /// Returns nil when the text is not a valid identifier.
    package init?(id: String) {
        let parts = id.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let kind = Kind(rawValue: parts[0]) else { return nil }
        switch parts[1] {
        case "app": self.init(kind, .app(parts[2]), subject: parts[3])
        case "host": self.init(kind, .host(parts[2]), subject: parts[3])
        case "farm": self.init(kind, .farm, subject: parts[3])
        default: return nil
        }
    }
}
