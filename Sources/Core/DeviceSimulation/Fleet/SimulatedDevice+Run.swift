/// The run of the app or its extension: the app asks the publisher which editions it may fetch, and downloads the editions that
/// the device does not have.
extension SimulatedDevice {
    /// How long the system lets the app run for a push, in tenths of a second.
    /// - Source: Apple, "Pushing background updates to your App".
    static let runTime: UInt32 = 300

    var isRunning: Bool {
        switch state.activity {
        case .idle, .waking: false
        case .background, .foreground, .notificationExtension: true
        }
    }

    /// Starts a run. If a run is in progress, the new run replaces it, and a download of the same edition continues.
    mutating func begin(
        _ activity: SimulatedDeviceState.Activity, _ list: EditionList, at time: ModelTime,
        until end: ModelTime,
        editions: inout EditionTable
    ) {
        let handedOver = isRunning ? state.fetching : nil
        if isRunning { storeProgress(at: time) }
        state.activity = activity
        state.runEditions = list
        state.runEnd = end
        state.downloadsFrom = min(end, time.advanced(by: conditions.profile.askTime.tenths))
        useBudget(state.downloadsFrom.tenths(since: time), at: time)
        let start: DeviceAction.Start =
            switch activity {
            case .notificationExtension: .notificationExtension
            case .foreground: .foreground
            case .idle, .waking, .background: .wakeUp
            }
        note(.start(start), at: time)
        note(.askPublisher, at: time)
        fetch(editions.nextEdition(of: list, for: number), handedOver: handedOver, at: time)
    }

    /// Handles the end of a download or of the run. If the present download is complete, the next download begins. If it is
    /// incomplete, or no download is left, the run ends.
    mutating func continueRun(at time: ModelTime, editions: inout EditionTable) {
        guard let edition = state.fetching else { return endRun() }
        guard let end = downloadEnd, end <= time else {
            storeProgress(at: time)
            note(.interrupt(edition), at: time)
            return endRun()
        }
        useBudget(time.tenths(since: state.downloadsFrom), at: state.downloadsFrom)
        state.downloadsFrom = time
        (state.partial, state.kilobytes) = (nil, 0)
        note(.done(edition, sends: editions.finish(edition, by: number)), at: time)
        let next = time < state.runEnd ? editions.nextEdition(of: state.runEditions, for: number) : nil
        guard next != nil else { return endRun() }
        fetch(next, handedOver: nil, at: time)
    }

    private mutating func endRun() {
        state.fetching = nil
        state.activity = .idle
        due = nil
    }

    /// Begins or resumes a download. If `edition` is nil, the app has nothing to download, and the run ends when the
    /// publisher has responded.
    private mutating func fetch(_ edition: Edition?, handedOver: Edition?, at time: ModelTime) {
        state.fetching = edition
        guard let edition else {
            due = state.downloadsFrom
            return
        }
        if state.partial != edition {
            (state.partial, state.kilobytes) = (edition, 0)
        } else if state.kilobytes > 0, handedOver != edition {
            let number = conditions.draw.fraction(.push, state.draws)
            state.draws &+= 1
            if number >= conditions.profile.resumes {
                state.kilobytes = 0
                note(.startOver(edition), at: time)
            }
        }
        due = min(state.runEnd, downloadEnd ?? .never)
    }

    /// When the present download is complete at the present rate; nil without a network.
    private var downloadEnd: ModelTime? {
        let rate = conditions.bitsPerSecond(at: state.downloadsFrom)
        guard rate > 0 else { return nil }
        let bits = Double(editionKilobytes - min(state.kilobytes, editionKilobytes)) * 8000
        return state.downloadsFrom.advanced(by: UInt32(clamping: (bits / rate * 10).rounded(.up)))
    }

    /// Stores the bytes that were downloaded until `time`. At least one kilobyte stays missing, because only
    /// ``continueRun(at:editions:)`` completes a download.
    private mutating func storeProgress(at time: ModelTime) {
        guard state.fetching != nil, time > state.downloadsFrom else { return }
        let tenths = time.tenths(since: state.downloadsFrom)
        let bits = Double(tenths) / 10 * conditions.bitsPerSecond(at: state.downloadsFrom)
        let sum = state.kilobytes.adding(saturating: UInt32(clamping: bits / 8000))
        state.kilobytes = min(sum, max(editionKilobytes, 1) - 1)
        useBudget(tenths, at: state.downloadsFrom)
        state.downloadsFrom = time
    }

    /// Subtracts a running time from the daily budget, but only if the app runs in the background and the device does not
    /// charge.
    private mutating func useBudget(_ tenths: UInt32, at time: ModelTime) {
        guard state.activity == .background, !conditions.isCharging(at: time) else { return }
        state.budgetUsed = state.budgetUsed.adding(saturating: UInt16(clamping: tenths))
    }
}
