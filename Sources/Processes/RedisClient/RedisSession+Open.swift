import EventLoop
import RedisProtocol
import StoreProtocol
import Transport

extension RedisSession {
    /// Connects and logs in: AUTH, SELECT, CLIENT SETNAME in one write.
    /// - Parameter dialTimeout: for connecting and TLS, if less than for all together.
    static func open(
        _ settings: RedisSettings, dialTimeout: Duration? = nil
    ) async throws(RedisError) -> RedisSession {
        let address = settings.address
        guard !address.usesTLS || settings.tls != nil else {
            throw .notConnected("rediss:// without TLS settings")
        }
        let deadline = ContinuousClock.now + settings.connectTimeout
        let session: RedisSession
        do {
            let dial = Dial(
                address.endpoint, tls: address.usesTLS ? settings.tls : nil,
                timeout: min(dialTimeout ?? settings.connectTimeout, settings.connectTimeout))
            session = RedisSession(try await dial.connect())
        } catch {
            throw .notConnected("\(error)")
        }
        do throws(RedisError) {
            for command in logIn(settings) {
                let answer = try await session.call(command, timeout: deadline - .now)
                if let error = answer.error { throw RedisError(error) }
            }
        } catch {
            session.close()
            throw error
        }
        return session
    }

    /// Sends a command and waits for its answer, which may be an error reply.
    func call(_ command: RESPCommand, timeout: Duration) async throws(RedisError) -> RESPValue {
        let result = await withCheckedContinuation { continuation in
            send(command, timeout: timeout) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    private static func logIn(_ settings: RedisSettings) -> [RESPCommand] {
        let address = settings.address
        var commands: [RESPCommand] = []
        if !address.user.isEmpty {
            commands.append(RESPCommand("AUTH", address.user, address.password))
        } else if !address.password.isEmpty {
            commands.append(RESPCommand("AUTH", address.password))
        }
        if address.database != 0 { commands.append(RESPCommand("SELECT", "\(address.database)")) }
        commands.append(RESPCommand("CLIENT", "SETNAME", settings.clientName))
        return commands
    }
}

extension RedisSession {
    /// Loads every script.
    /// - Returns: what Redis calls them.
    func loadScripts(timeout: Duration) async throws(RedisError) -> [Script: [UInt8]] {
        var hashes: [Script: [UInt8]] = [:]
        for script in Script.allCases {
            let answer = try await call(script.loadCommand, timeout: timeout)
            if let error = answer.error { throw RedisError(error) }
            hashes[script] = answer.bytes ?? []
        }
        return hashes
    }

    /// Nothing is in it when we may not ask.
    func serverInfo(timeout: Duration) async throws(RedisError) -> RedisInfo {
        let answer = try await call(RESPCommand("INFO", "server"), timeout: timeout)
        return RedisInfo(answer.text ?? "")
    }
}
