/* The entry points of the dispatcher. Each jumps through its slot and changes no argument register. Until a
 * slot is filled it leads to .Lresolve_<index>, which calls nacre_resolve(index) for the target and preserves
 * all registers that may hold arguments of a C call by the platform's ABI. */

#if defined(__x86_64__)

  .macro ENTRY name, index
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  .cfi_startproc
  endbr64
  jmp *nacre_slots+8*\index(%rip)
  .cfi_endproc
  .size \name, . - \name
.Lresolve_\index:
  .cfi_startproc
  endbr64
  pushq $\index
  .cfi_def_cfa_offset 16
  jmp resolve
  .cfi_endproc
  .endm

  .text
  .type resolve, @function
  .p2align 4
/* On the stack: the index, then the return address. 192 bytes keep the stack aligned. */
resolve:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  subq $192, %rsp
  .cfi_adjust_cfa_offset 192
  movq %rax, 128(%rsp)
  movq %rdi, 136(%rsp)
  movq %rsi, 144(%rsp)
  movq %rdx, 152(%rsp)
  movq %rcx, 160(%rsp)
  movq %r8, 168(%rsp)
  movq %r9, 176(%rsp)
  movq %r10, 184(%rsp)
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movl 192(%rsp), %edi
  call nacre_resolve
  movq %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  movq 128(%rsp), %rax
  movq 136(%rsp), %rdi
  movq 144(%rsp), %rsi
  movq 152(%rsp), %rdx
  movq 160(%rsp), %rcx
  movq 168(%rsp), %r8
  movq 176(%rsp), %r9
  movq 184(%rsp), %r10
  addq $200, %rsp
  .cfi_adjust_cfa_offset -200
  jmp *%r11
  .cfi_endproc
  .size resolve, . - resolve

#elif defined(__aarch64__)

  .macro ENTRY name, index
  .globl \name
  .type \name, %function
  .p2align 4
\name:
  .cfi_startproc
  hint #34 /* bti c */
  adrp x16, nacre_slots+8*\index
  ldr x17, [x16, #:lo12:nacre_slots+8*\index]
  br x17
  .cfi_endproc
  .size \name, . - \name
.Lresolve_\index:
  .cfi_startproc
  hint #34
  mov w16, #\index
  b resolve
  .cfi_endproc
  .endm

  .text
  .type resolve, %function
  .p2align 4
/* x16: the index. x0 to x8 and q0 to q7 are the caller's arguments. */
resolve:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_adjust_cfa_offset 224
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w16
  bl nacre_resolve
  mov x17, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_adjust_cfa_offset -224
  .cfi_restore x29
  .cfi_restore x30
  br x17
  .cfi_endproc
  .size resolve, . - resolve

#else
#error "The dispatcher supports x86-64 and AArch64 only: add the entry points of this processor here."
#endif

  .macro SLOTS
  .data
  .hidden nacre_slots
  .globl nacre_slots
  .p2align 3
nacre_slots:
  .endm

#include "mpi/abi/dispatcher_entries.gen.inc"

  .section .note.GNU-stack, "", %progbits
