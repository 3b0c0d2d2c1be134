import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// Supplies an app's workers with credentials, and pauses the app when the gateway refuses the credentials.
@Loop final class AppCredentials {
    let files: CredentialFiles
    private let context: AppContext
    private let messageMaker: AppMessageMaker
    private var state = CredentialState()
    private var isRenewing = false
    private var isContinuing = false
    /// Why the app is paused, by the farm or by an operator; nil if the app is not paused.
    private(set) var pauseReason: String?
    /// The fingerprint of the credentials that caused the pause; empty if the pause has another cause.
    private var pausedFingerprint = ""
    private let rateLimit: AppRateLimit
    /// Called with the app's state in Redis after every read.
    var onAppState: @Loop (ReadAppState.State) async -> Void = { _ in }

    init(_ configuration: AppConfiguration, _ context: AppContext) {
        self.context = context
        rateLimit = AppRateLimit(context)
        let farmRedis = FarmRedis(connection: context.shared.redis)
        files = CredentialFiles(configuration, farmRedis: farmRedis, log: context.log)
        messageMaker = AppMessageMaker(files, rateLimit, context)
    }

    /// The number of workers of this host. The workers share the host's connections to a gateway.
    var workers: Int {
        get { messageMaker.workers }
        set {
            guard newValue != messageMaker.workers else { return }
            messageMaker.workers = newValue
            sendSetup()
        }
    }

    private var name: String { context.name }
    private var store: AppRedis { context.store }
    private var log: Logger { context.log }

    private func notifyWorkers(_ message: WorkerMessage) { context.shared.notifyWorkers(message) }

    // MARK: Start and change

    /// Loads the credentials. If the app was paused because of other credentials, resumes the app.
    func start() async {
        files.load()
        do throws(StoreError) {
            let appState = try await store.performWithRetries(ReadAppState())
            _ = rateLimit.apply(appState)
            await onAppState(appState)
            if let pause = appState.pause {
                note(pause)
                if files.problem == nil, isPausedForOthers { await resume() }
            }
        } catch {
            log.error("cannot read the app's pause and rate", error: error)
        }
        guard pauseReason == nil else { return }
        if let problem = files.problem { return await pause("credentials: \(problem)") }
        // If the app is paused, the line below is not reached, so a refused token is not replaced. The resumption of
        // the app replaces the token.
        if await files.refreshToken() == .refused { await pause(refusedTwice) }
    }

    /// The messages about the app for a worker that starts.
    var messages: [WorkerMessage] {
        messageMaker.messages(generation: state.generation, isPaused: pauseReason != nil)
    }

    /// Applies the app's changed configuration after a reload.
    func change(to configuration: AppConfiguration) async {
        files.apply(configuration)
        await reload()
    }

    /// Reads changed credential files, renews the token if it is too old, and applies the app's pause and rate limit
    /// from Redis.
    func refresh() async {
        if files.haveChanged() {
            log.notice("credential files have changed")
            await reload()
        }
        if pauseReason == nil { await renewTokenIfDue() }
        do throws(StoreError) {
            let appState = try await store.perform(ReadAppState())
            if rateLimit.apply(appState) {
                log.notice("rate limit changed", metadata: ["rate": "\(rateLimit.text)"])
                notifyWorkers(.rate(app: name, rate: rateLimit.rate(files.configuration)))
            }
            await onAppState(appState)
            let pause = appState.pause
            if pause == nil, pauseReason != nil { await continueAfterPause() }
            if let pause, pauseReason == nil {
                log.warning("app is paused", metadata: ["reason": "\(pause.reason)"])
                notifyWorkers(.pause(app: name))
            }
            if let pause { note(pause) }
        } catch {
            // Redis did not reply. The next refresh, a few seconds later, reads the state again.
        }
    }

    private func renewTokenIfDue() async {
        switch await files.refreshToken() {
        case .kept: break
        case .refused: await pause(refusedTwice)
        case .renewed:
            guard let token = files.token else { return }
            state.renewed()
            notifyWorkers(messageMaker.provider(token, generation: state.generation, reconnects: false))
        }
    }

    // MARK: Rejections and resumption

    /// Handles a gateway response that rejects the app's credentials or settings.
    func settingRejected(_ setting: WorkerNotice.RejectedSetting, generation: UInt32, reason: String) async {
        let action: CredentialState.Action
        switch setting {
        case .credentialsStale: action = state.rejectedAsStale(reason: reason, generation: Int(generation))
        case .credentialsWrong: action = state.rejected(reason: reason, generation: Int(generation))
        case .configurationWrong: action = .pause(reason: "configuration: \(reason)")
        }
        switch action {
        case .renew: await renew(reason)
        case .pause(let why):
            if setting != .configurationWrong { await files.refuseToken(reason) }
            await pause(why)
        case .resend where !isRenewing: sendAgain()
        case .resend: break
        case .stayPaused: notifyWorkers(.pause(app: name))
        }
    }

    func accepted(generation: UInt32) { state.accepted(generation: Int(generation)) }

    /// Resumes the app after its credentials have changed, unless an operator has paused the app.
    func resume() async {
        do throws(StoreError) {
            guard try await store.performWithRetries(ResumeApp(isOwn: true)) != .pausedByOperator else {
                return sendAgain()
            }
        } catch {
            return log.error("cannot resume", error: error)
        }
        await continueAfterPause()
    }

    private func renew(_ reason: String) async {
        isRenewing = true
        defer { isRenewing = false }
        await files.refuseToken(reason)
        if await files.refreshToken() == .refused {
            let why = "\(reason): the gateway refuses even a fresh token; check this host's clock and the key"
            if case .pause = state.notRenewed(reason: why) { await pause(why) }
            return
        }
        state.renewed()
        sendAgain()
    }

    /// The reason of the pause if the gateway refuses the last token, and another token may not be minted yet.
    private var refusedTwice: String {
        let seconds = files.providerTokens?.renewalIn ?? 0
        return """
            the gateway has refused the provider token that was made for the last resume: correct key, id or \
            team, or resume in \((seconds + 59) / 60) min, when another token may be minted
            """
    }

    /// Sends the workers the credentials, so that they send again, with new connections.
    private func sendAgain() {
        if let token = files.token {
            notifyWorkers(messageMaker.provider(token, generation: state.generation, reconnects: true))
        } else {
            sendSetup()
        }
    }

    private func sendSetup() {
        if let setup = messageMaker.setup(generation: state.generation) { notifyWorkers(.app(setup)) }
    }

    private func pause(_ reason: String) async {
        guard pauseReason == nil else { return notifyWorkers(.pause(app: name)) }
        let fingerprint = files.fingerprint ?? "none"
        (pauseReason, pausedFingerprint) = (reason, fingerprint)
        notifyWorkers(.pause(app: name))
        log.error("app paused", metadata: ["reason": "\(reason)"])
        do throws(StoreError) {
            _ = try await store.performWithRetries(PauseApp(reason: reason, fingerprint: fingerprint))
        } catch { log.error("cannot pause", error: error) }
    }

    /// Whether the app was paused because of credentials that differ from the current credentials.
    private var isPausedForOthers: Bool {
        !pausedFingerprint.isEmpty && pausedFingerprint != files.fingerprint
    }

    private func note(_ pause: ReadAppState.Pause) {
        pauseReason = pause.reason
        pausedFingerprint = pause.fingerprint
    }

    private func continueAfterPause() async {
        // A pause can end for several reasons: a change in Redis, an operator's command, or changed files. If a second
        // reason arrives while this function runs, nothing is left to do.
        guard !isContinuing else { return }
        isContinuing = true
        defer { isContinuing = false }
        let renewal = await files.providerTokens?.refreshAfterPause()
        (pauseReason, pausedFingerprint) = (nil, "")
        state.resumed()
        if renewal == .refused { return await pause(refusedTwice) }
        log.notice("app resumed")
        sendAgain()
        notifyWorkers(.resume(app: name))
    }

    // MARK: Orders for workers

    private func reload() async {
        let before = files.fingerprint
        files.load()
        // Workers may still report that the gateway refuses the old credentials. After this call, these reports do not
        // count against the new credentials.
        if before != files.fingerprint { state.renewed() }
        guard files.problem == nil else {
            // If earlier credentials were loaded, the workers keep using them, because the files may be half written.
            if before == nil, let problem = files.problem { await pause("credentials: \(problem)") }
            return
        }
        if pauseReason == nil, await files.refreshToken() == .refused { await pause(refusedTwice) }
        state.renewed()
        sendSetup()
        // Resume only if other credentials caused the pause. If another host has already used the new credentials and
        // paused the app because of them, the app stays paused.
        if pauseReason != nil, before != files.fingerprint, isPausedForOthers {
            await resume()
        } else {
            sendAgain()
        }
    }
}
