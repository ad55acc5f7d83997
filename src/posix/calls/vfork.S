/* vfork: the child shares the memory of its parent and returns first, so that no function of C may
 * stand between the program and the C library. nacre_posix_before_vfork writes what is in memory
 * and returns the C library's vfork; the return address on the stack, or in x30, stays the
 * program's. */

  .text
  .globl vfork
  .type vfork, %function
  .p2align 4

#if defined(__x86_64__)

vfork:
  .cfi_startproc
  endbr64
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call nacre_posix_before_vfork
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc

#elif defined(__aarch64__)

vfork:
  .cfi_startproc
  hint #34 /* bti c */
  stp x29, x30, [sp, #-16]!
  .cfi_adjust_cfa_offset 16
  bl nacre_posix_before_vfork
  ldp x29, x30, [sp], #16
  .cfi_adjust_cfa_offset -16
  mov x16, x0
  br x16
  .cfi_endproc

#else
#error "libnacre_posix supports x86-64 and AArch64 only: add vfork of this processor here."
#endif

  .size vfork, . - vfork
  .section .note.GNU-stack, "", %progbits
