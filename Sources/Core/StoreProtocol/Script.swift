package import RedisProtocol

/// The scripts that Redis runs for us. Each file under `Scripts` has its contract on top.
package enum Script: Int, CaseIterable, Sendable {
    case lease, take, refuse, blame, split, checkout, report, putback, settle, promote, reclaim, release, park
    case hold, cancel, hasten
    case suppress, unconfirmed, feedback, accused, gate, group, depths, ages, faults, audit, mend
    case trim, replay
    case swap, beat, found, operate, alert
    case tell

    /// What is loaded into Redis: the shebang, the shared prelude, the body.
    package var text: [UInt8] { Self.texts[rawValue] }

    /// Its answer is the hash that Redis calls the script by.
    package var loadCommand: RESPCommand {
        var command = RESPCommand("SCRIPT", "LOAD")
        command.append(text)
        return command
    }

    private static let texts: [[UInt8]] = allCases.map(\.assembled)

    /// Redis knows no include, and wants the shebang in the first line.
    private var assembled: [UInt8] {
        guard usesPrelude else { return file }
        let end = file.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? file.endIndex
        let shared =
            PackageResources.prelude_lua + (usesCensus ? PackageResources.census_lua : [])
            + (usesLetters ? PackageResources.letters_lua : [])
        return file[..<end] + shared + file[end...]
    }

    /// Changes nothing: may run with no more than the right to read.
    var isReadOnly: Bool {
        switch self {
        case .accused, .depths, .ages, .faults, .audit: true
        default: false
        }
    }

    private var usesCensus: Bool { self == .audit || self == .mend }

    private var usesLetters: Bool { self == .settle || self == .trim || self == .replay }

    private var usesPrelude: Bool {
        switch self {
        case .swap, .beat, .found, .operate, .alert: false
        default: true
        }
    }

    private var file: [UInt8] {
        switch self {
        case .lease: PackageResources.lease_lua
        case .take: PackageResources.take_lua
        case .refuse: PackageResources.refuse_lua
        case .blame: PackageResources.blame_lua
        case .split: PackageResources.split_lua
        case .checkout: PackageResources.checkout_lua
        case .report: PackageResources.report_lua
        case .putback: PackageResources.putback_lua
        case .settle: PackageResources.settle_lua
        case .promote: PackageResources.promote_lua
        case .reclaim: PackageResources.reclaim_lua
        case .release: PackageResources.release_lua
        case .park: PackageResources.park_lua
        case .hold: PackageResources.hold_lua
        case .cancel: PackageResources.cancel_lua
        case .hasten: PackageResources.hasten_lua
        case .suppress: PackageResources.suppress_lua
        case .unconfirmed: PackageResources.unconfirmed_lua
        case .feedback: PackageResources.feedback_lua
        case .accused: PackageResources.accused_lua
        case .gate: PackageResources.gate_lua
        case .group: PackageResources.group_lua
        case .depths: PackageResources.depths_lua
        case .ages: PackageResources.ages_lua
        case .faults: PackageResources.faults_lua
        case .audit: PackageResources.audit_lua
        case .mend: PackageResources.mend_lua
        case .trim: PackageResources.trim_lua
        case .replay: PackageResources.replay_lua
        case .swap: PackageResources.swap_lua
        case .beat: PackageResources.beat_lua
        case .found: PackageResources.found_lua
        case .operate: PackageResources.operate_lua
        case .tell: PackageResources.tell_lua
        case .alert: PackageResources.alert_lua
        }
    }
}
