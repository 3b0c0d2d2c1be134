extension IntakeNotice {
    /// The intake's numbers. All counts are 0 when the process starts.
    package struct Heartbeat: Equatable, Sendable {
        /// The number of finished jobs, including refused jobs.
        package var jobs: UInt64 = 0
        package var refused: UInt64 = 0
        /// The number of pushes that were put into batches.
        package var pushes: UInt64 = 0
        package var residentBytes: UInt64 = 0
        /// The number of finished device inputs, including refused inputs.
        package var deviceInputs: UInt64 = 0
        package var refusedDeviceInputs: UInt64 = 0
        /// The apps whose intake lease this process has.
        package var apps: [App] = []

        package init() {}
    }
}

extension IntakeNotice.Heartbeat {
    /// The intake's numbers for one app.
    package struct App: Equatable, Sendable {
        package var name: String
        package var campaigns = CampaignNumbers()
        package var devices = Devices()
        /// The number of users and devices whose tokens were looked up for jobs.
        package var lookups: UInt64 = 0
        /// The devices that campaigns have handled, by the name of the count, such as `accepted`.
        package var campaignDevices: [Count] = []

        package init(name: String) { self.name = name }
    }

    package struct Count: Equatable, Sendable {
        package var name: String
        package var number: UInt64

        package init(name: String, number: UInt64) { (self.name, self.number) = (name, number) }
    }

    /// The app's stored devices and device inputs.
    package struct Devices: Equatable, Sendable {
        /// The number of stored devices, and of those that can get pushes; nil if they are not counted yet.
        package var stored: UInt64?
        package var alive: UInt64?
        /// The number of finished device inputs, including refused inputs.
        package var inputs: UInt64 = 0
        package var refused: UInt64 = 0
        /// Whether the Redis with the stored devices is reachable.
        package var isRegistryUp = false

        package init() {}
    }

    /// The app's campaigns that are started and not over.
    package struct CampaignNumbers: Equatable, Sendable {
        /// Campaigns that wait for their first push.
        package var scheduled: UInt32 = 0
        /// Campaigns that may send.
        package var running: UInt32 = 0
        /// Campaigns that an operator or the farm paused.
        package var paused: UInt32 = 0
        /// The number of campaigns that cannot send all pushes within their windows.
        package var late: UInt32 = 0
        /// The first late campaign, and why it is late; both are empty if no campaign is late.
        package var firstLate = ""
        package var shortfall = ""
        /// Whether the rate of a campaign is not measured yet, so that it may be late.
        package var isUnclear = false
        /// The campaigns, running campaigns first; at most ``mostListed``.
        package var list: [Campaign] = []

        /// The maximum number of campaigns in ``list``.
        package static let mostListed = 50

        package init() {}
    }

    /// A campaign that is started and not over.
    package struct Campaign: Equatable, Sendable {
        package enum State: UInt8, CaseIterable, Sendable {
            case scheduled, running, paused
        }

        package var id: String
        package var state: State
        package var isLate = false
        /// The present round of the group of devices that is furthest ahead, and the number of its rounds; 0 before the start.
        package var round: UInt32 = 0
        package var rounds: UInt32 = 0
        /// The devices of the present rounds, and those of them that are handled. Devices whose round has not begun are missing.
        package var counted: UInt64 = 0
        package var handled: UInt64 = 0
        /// The devices that all rounds have handled.
        package var total: UInt64 = 0
        /// About how many milliseconds the present rounds still take; nil if nothing is sent now.
        package var remaining: UInt64?
        /// When the next round or window begins, or the first window, in Unix milliseconds; nil if none follows.
        package var next: UInt64?

        package init(id: String, state: State) { (self.id, self.state) = (id, state) }
    }
}

extension IntakeNotice.Heartbeat: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(jobs, refused, pushes, residentBytes, deviceInputs, refusedDeviceInputs, apps)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (jobs, refused, pushes) = try reader.readAll()
        (residentBytes, deviceInputs, refusedDeviceInputs, apps) = try reader.readAll()
    }
}

extension IntakeNotice.Heartbeat.App: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(name, campaigns, devices, lookups, campaignDevices)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, campaigns, devices, lookups, campaignDevices) = try reader.readAll()
    }
}

extension IntakeNotice.Heartbeat.Count: ControlValue {
    package func write(to writer: inout ControlWriter) { writer.write(name, number) }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, number) = try reader.readAll()
    }
}

extension IntakeNotice.Heartbeat.Devices: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(stored, alive, inputs, refused, isRegistryUp)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (stored, alive, inputs, refused, isRegistryUp) = try reader.readAll()
    }
}

extension IntakeNotice.Heartbeat.CampaignNumbers: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(scheduled, running, paused, late, firstLate, shortfall, isUnclear, list)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (scheduled, running, paused, late, firstLate, shortfall, isUnclear, list) = try reader.readAll()
    }
}

extension IntakeNotice.Heartbeat.Campaign: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(id, state.rawValue, isLate, round, rounds, counted, handled, total, remaining, next)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        let state: UInt8
        (id, state, isLate, round, rounds) = try reader.readAll()
        (counted, handled, total, remaining, next) = try reader.readAll()
        guard let known = State(rawValue: state) else { throw .unknownKind(state) }
        self.state = known
    }
}
