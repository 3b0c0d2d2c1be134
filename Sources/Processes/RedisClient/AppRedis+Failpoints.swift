#if FAILPOINTS
    import StoreProtocol
    import EventLoop
    import Failpoints
    import RedisProtocol

    extension AppRedis {
        /// Does the same as ``send(_:then:)``, but fails at active failpoints.
        func sendWithFailpoints<Step: Request>(
            _ request: Step, then: @escaping @Loop (Result<Step.Reply, StoreError>) -> Void
        ) {
            let step = Step.script.map(\.rawValue) ?? "\(Step.self)"
            switch Failpoint.hit("redis.\(step).before") {
            case .pass: break
            case .drop: return then(.failure(.redis(.lost("failpoint"))))
            case .dup: transmit(request) { _ in }
            case .error:
                let refusal = RESPServerError(message: "LOADING failpoint")
                return then(.failure(.redis(.waitAndRepeat(refusal))))
            }
            transmit(request) { reply in
                switch Failpoint.hit("redis.\(step).after") {
                case .drop: then(.failure(.redis(.lost("failpoint"))))
                default: then(reply)
                }
            }
            if Failpoint.isWatched("redis.\(step).sent") {
                // The event loop sends the command at the end of its current turn, and runs this task in its next turn,
                // before it reads replies. So this failpoint can end the process after the command was sent and before
                // its reply is handled.
                Loop.task {
                    try await Loop.sleep(for: .zero)
                    Failpoint.hit("redis.\(step).sent")
                }
            }
        }
    }
#endif
